#include "lab/sum_world.hpp"

namespace wattle::lab {
namespace {

constexpr double kIdlePowerW = 60.0;
constexpr double kBusyPowerW = 240.0;
constexpr double kBurstPowerW = 400.0;

Load step(double before_w, double during_w) {
  return {.name = "step",
          .shape = Waveform::constant(during_w),
          .outside = Waveform::constant(before_w)};
}

/// Runs whose last updates are unlike the rest.
Load transient(double window_s, double update_s) {
  constexpr double kNever = 1e6;
  const double burst_s = 0.95 * window_s - 1.5 * update_s;
  return {.name = "transient",
          .shape = Waveform::repeated({{0.0, kBusyPowerW}, {burst_s, kBurstPowerW}}, kNever),
          .outside = Waveform::constant(kIdlePowerW)};
}

struct Kind {
  std::string_view name;
  std::vector<Load> loads;
};

std::vector<Kind> kinds(double window_s, double update_s) {
  const Waveform random = Waveform::noise(kIdlePowerW, kBurstPowerW, window_s / 8.0, 7);
  Load work = {.name = "random", .shape = random, .most_delay_s = 1000.0 * window_s};
  work.outside = Waveform::constant(kIdlePowerW);
  const Waveform bursts =
      Waveform::bursts(kIdlePowerW, kBurstPowerW, 3.0 * update_s, 2.0 * update_s, 11);
  const Load anyway = {.name = "bursts", .shape = bursts, .most_delay_s = 1000.0 * window_s};
  return {{"bursts", {anyway}},
          {"steps", {step(kIdlePowerW, kBusyPowerW)}},
          {"falls", {step(kBusyPowerW, kIdlePowerW)}},
          {"steady", {step(kBusyPowerW, kBusyPowerW)}},
          {"random", {work}},
          {"mixed", {step(kIdlePowerW, kBusyPowerW), step(kBusyPowerW, kIdlePowerW)}},
          {"transients", {transient(window_s, update_s)}}};
}

struct SummedSensor {
  std::string_view name;
  Machine machine;
  double window_s;
};

std::vector<SummedSensor> sensors() {
  const CounterModel package = {.name = "package",
                                .domain = Domain::package(0),
                                .update = {.mean_s = 1e-3, .spread_s = 0.04e-3}};
  const CounterModel gpu = {.name = "GPU",
                            .domain = Domain::nvidia_gpu(0),
                            .update = {.mean_s = 0.1, .spread_s = 0.001},
                            .tick_j = 1e-3,
                            .unit_j = 1e-3};
  const GaugeModel quarter = {
      .name = "25 of 100 ms", .update = {.mean_s = 0.1, .spread_s = 0.001}, .window_s = 0.025};
  const GaugeModel whole = {
      .name = "95 of 100 ms", .update = {.mean_s = 0.1, .spread_s = 0.001}, .window_s = 0.095};
  CounterModel pausing = package;
  pausing.pause_s = 0.015;
  pausing.between_pauses_s = 0.07;
  return {{"RAPL, 10 ms", {.name = "package", .counter = package}, 0.01},
          {"RAPL, 1 s", {.name = "package", .counter = package}, 1.0},
          {"RAPL pausing for 15 ms, 1 s", {.name = "package", .counter = pausing}, 1.0},
          {"GPU counter, 0.5 s", {.name = "GPU", .counter = gpu}, 0.5},
          {"25 of 100 ms, 1 s", {.name = "GPU", .gauge = quarter}, 1.0},
          {"95 of 100 ms, 1 s", {.name = "GPU", .gauge = whole}, 1.0}};
}

}  // namespace

std::vector<SumCell> sum_cells(std::size_t most_runs) {
  std::vector<SumCell> cells;
  for (const SummedSensor& sensor : sensors()) {
    const bool is_counter = sensor.machine.counter.has_value();
    const double update_s =
        is_counter ? sensor.machine.counter->update.mean_s : sensor.machine.gauge->update.mean_s;
    const bool pauses = is_counter && sensor.machine.counter->pause_s > 0.0;
    for (const Kind& kind : kinds(sensor.window_s, update_s)) {
      for (std::size_t runs = 1; runs <= most_runs; runs *= 10) {
        SumCell cell{.sensor = sensor.name,
                     .kind = kind.name,
                     .machine = sensor.machine,
                     .loads = kind.loads,
                     .window_s = sensor.window_s,
                     .runs = runs};
        cells.push_back(cell);
        cell.is_in_step = true;
        if (runs > 1 && !pauses) cells.push_back(cell);
        cell.is_in_step = false;
        if (!is_counter) continue;
        cell.is_followed = true;
        cells.push_back(cell);
        cell.is_followed = false;
        cell.is_read_on = true;
        cell.is_observed = false;
        cells.push_back(cell);
        cell.is_read_on = false;
        cells.push_back(cell);
        cell.is_read_before = false;
        cells.push_back(cell);
      }
    }
    for (const Kind& kind : kinds(sensor.window_s, update_s)) {
      SumCell boards{.sensor = sensor.name,
                     .kind = kind.name,
                     .machine = sensor.machine,
                     .loads = kind.loads,
                     .window_s = sensor.window_s,
                     .boards = 64};
      cells.push_back(boards);
      boards.is_observed = false;
      if (is_counter) cells.push_back(boards);
    }
  }
  return cells;
}

}  // namespace wattle::lab
