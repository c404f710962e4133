#include "lab/cells.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "lab/board_cells.hpp"
#include "lab/cell_parts.hpp"

namespace wattle::lab {
namespace {

constexpr double kWrap32 = 0x1p32;

/// Mean, spread and autocorrelation of the times between updates of package counters, from 9,997
/// recorded updates each (github.com/lukalt/icpe-2024-rapl-validation); that of Zen 2 from
/// github.com/tud-zih-energy/2021-rome-ee, where no autocorrelation is known.
constexpr UpdateModel kIceLake = {
    .mean_s = 0.9998e-3, .spread_s = 0.2705e-3, .autocorrelation = -0.41};
constexpr UpdateModel kIceLakeDram = {
    .mean_s = 0.9999e-3, .spread_s = 0.2680e-3, .autocorrelation = -0.41};
constexpr UpdateModel kBroadwell = {
    .mean_s = 1.0009e-3, .spread_s = 0.0421e-3, .autocorrelation = -0.45};
constexpr UpdateModel kBroadwellDram = {
    .mean_s = 1.0077e-3, .spread_s = 0.0947e-3, .autocorrelation = -0.45};
constexpr UpdateModel kKnightsLanding = {.mean_s = 1.0010e-3, .spread_s = 0.0284e-3};
constexpr UpdateModel kZen2Core = {.mean_s = 1.0e-3, .spread_s = 0.0062e-3};
constexpr UpdateModel kZen2 = {.mean_s = 1.0e-3, .spread_s = 0.0032e-3};

CounterModel package_counter(std::string_view name, const UpdateModel& update) {
  return {.name = std::string(name),
          .domain = Domain::package(0),
          .update = update,
          .modulus = static_cast<std::uint64_t>(kWrap32)};
}

Machine cpu(const CounterModel& counter) { return {.name = counter.name, .counter = counter}; }

Machine ice_lake() { return cpu(package_counter("ice lake", kIceLake)); }

Machine ice_lake_dram() {
  CounterModel counter = package_counter("ice lake dram", kIceLakeDram);
  counter.domain = Domain::dram(0);
  counter.tick_j = 0x1p-16;
  counter.unit_j = 0x1p-16;
  counter.max_power_w = 500.0;
  return cpu(counter);
}

Machine broadwell() { return cpu(package_counter("broadwell", kBroadwell)); }
Machine zen_2() { return cpu(package_counter("zen 2", kZen2)); }

/// What differs from one generation to the next is how regularly the counter is renewed.
std::vector<Machine> generations() {
  CounterModel broadwell_dram = package_counter("broadwell dram", kBroadwellDram);
  broadwell_dram.domain = Domain::dram(0);
  CounterModel zen_2_core = package_counter("zen 2 core", kZen2Core);
  zen_2_core.domain = Domain::core(0);
  return {broadwell(), cpu(broadwell_dram),
          cpu(package_counter("knights landing", kKnightsLanding)), zen_2(), cpu(zen_2_core)};
}

/// The kernel counts in 2^-32 J what the register counts in 2^-14 J, and does not wrap.
Machine ice_lake_perf() {
  CounterModel counter = package_counter("ice lake perf", kIceLake);
  counter.unit_j = 0x1p-32;
  counter.modulus = 0;
  return cpu(counter);
}

Machine ice_lake_dropouts() {
  Machine machine = cpu(package_counter("ice lake, 2 % of reads fail", kIceLake));
  machine.reader.dropout = 0.02;
  return machine;
}

CounterModel gpu_counter() {
  return {.name = "gpu counter",
          .domain = Domain::nvidia_gpu(0),
          .update = kGpuUpdate,
          .tick_j = 1e-3,
          .unit_j = 1e-3,
          .max_power_w = 5000.0};
}

Machine gpu_25_100() { return gpu("gpu 25/100 ms", kGpuUpdate, 0.025); }

Machine with_counter(Machine machine, bool is_fed) {
  machine.name += is_fed ? " + fed counter" : " + counter";
  machine.counter = gpu_counter();
  machine.counter_is_fed = is_fed;
  return machine;
}

/// A board whose gauge keeps the pace that is stated.
Machine on_time(Machine machine) {
  if (machine.gauge) machine.gauge->update.between_boards = 0.0;
  return machine;
}

std::vector<Load> cpu_loads(double window_s) {
  const Waveform square_40_hz = Waveform::square(140.0, 260.0, 0.025);
  return {
      periodic("constant", Waveform::constant(200.0)),
      work("step at the edges", Waveform::constant(200.0), 60.0),
      work("work, 40 Hz square", square_40_hz, 60.0),
      periodic("40 Hz square", square_40_hz),
      periodic("square at the updates", Waveform::square(140.0, 260.0, kIceLake.mean_s)),
      step_inside(60.0, 200.0, window_s),
      periodic("sine 3 Hz", Waveform::sine(150.0, 80.0, 1.0 / 3.0)),
      periodic("bursts", Waveform::bursts(60.0, 260.0, 0.08, 0.02, kBurstSeed)),
      periodic("noise", Waveform::noise(60.0, 260.0, 0.03, kNoiseSeed)),
  };
}

std::vector<Load> gpu_loads(double window_s) {
  return {
      periodic("constant", Waveform::constant(300.0)),
      work("step at the edges", Waveform::constant(300.0), 70.0),
      step_inside(70.0, 400.0, window_s),
      work("work, 20 ms square", Waveform::square(200.0, 400.0, 0.02), 70.0),
      work("work, 130 ms square", Waveform::square(200.0, 400.0, 0.13), 70.0),
      periodic("sine 3 Hz", Waveform::sine(250.0, 150.0, 1.0 / 3.0)),
      periodic("bursts", Waveform::bursts(70.0, 400.0, 0.4, 0.2, kBurstSeed)),
      periodic("aperiodic", Waveform::noise(200.0, 400.0, 0.03, kNoiseSeed)),
  };
}

/// Loads whose period is to that of a gauge of 100 ms as two small whole numbers.
std::vector<Load> loads_in_step() {
  std::vector<Load> loads;
  for (const int period_ms : {60, 150, 250, 300, 500}) {
    loads.push_back(periodic(fmt::format("square of {} ms", period_ms),
                             Waveform::square(200.0, 400.0, period_ms * 1e-3)));
  }
  loads.push_back(work("work, 300 ms square", Waveform::square(200.0, 400.0, 0.3), 70.0));
  return loads;
}

Load at_the_gauges_period() {
  return periodic("square at the gauge's period", Waveform::square(200.0, 400.0, 0.1));
}

constexpr std::string_view kAliased = "load at the gauge's own period";
constexpr std::string_view kInStep = "load in step with the gauge";
constexpr std::string_view kFedCounter = "nothing shows what feeds the counter";

using Cells = std::vector<Cell>;

void add_cpu_cells(Cells& cells, std::string_view mode) {
  for (const double window_s : {0.01, 0.1, 1.0, 10.0}) {
    for (const Load& load : cpu_loads(window_s)) {
      cells.push_back({.mode = mode, .machine = ice_lake(), .load = load, .window_s = window_s});
    }
  }
  constexpr double kWindowS = 0.1;
  for (const Machine& machine :
       {ice_lake_dram(), ice_lake_perf(), broadwell(), zen_2(), ice_lake_dropouts()}) {
    const Load edges = work("step at the edges", Waveform::constant(200.0), 60.0);
    cells.push_back({.mode = mode, .machine = machine, .load = edges, .window_s = kWindowS});
  }
}

void add_generation_cells(Cells& cells) {
  for (const std::string_view mode : {"plain", "interpolated"}) {
    for (const Machine& machine : generations()) {
      for (const double window_s : {0.01, 1.0}) {
        for (const Load& load : cpu_loads(window_s)) {
          const bool is_tried = load.name == "step at the edges" || load.name == "40 Hz square" ||
                                load.name == "bursts";
          if (!is_tried) continue;
          cells.push_back({.mode = mode, .machine = machine, .load = load, .window_s = window_s});
        }
      }
    }
  }
}

/// The loads that begin and end with the window are the case that aligning is for.
void add_aligned_cells(Cells& cells) {
  for (const double window_s : {0.01, 0.1, 1.0}) {
    for (const Load& load : cpu_loads(window_s)) {
      if (!load.outside && load.name != "40 Hz square") continue;
      cells.push_back(
          {.mode = "aligned", .machine = ice_lake(), .load = load, .window_s = window_s});
    }
  }
}

/// A gauge has no error under a power that never changes. A mean over longer than an update is
/// taken for an average of any filter.
std::string_view why_exempt(const Machine& machine, const Load& load) {
  if (load.name == "constant") return "no error by construction";
  return machine.gauge->window_s == 1.0 ? kUnknownFilter : "";
}

void add_gauge_cells(Cells& cells) {
  const std::array machines = {gpu_25_100(), gpu("gpu 100/100 ms", kGpuUpdate, 0.1),
                               gpu("gpu 10/20 ms", kFastGpuUpdate, 0.01),
                               gpu("gpu 1 s mean", kGpuUpdate, 1.0)};
  for (const Machine& machine : machines) {
    for (const double window_s : {1.0, 10.0}) {
      for (const Load& load : gpu_loads(window_s)) {
        cells.push_back({.mode = "gauge",
                         .machine = machine,
                         .load = load,
                         .window_s = window_s,
                         .exempt_from_width = why_exempt(machine, load)});
      }
    }
  }
  for (const Machine& machine : {gpu_25_100(), gpu("gpu 100/100 ms", kGpuUpdate, 0.1)}) {
    cells.push_back({.mode = "gauge",
                     .machine = on_time(machine),
                     .load = at_the_gauges_period(),
                     .window_s = 10.0,
                     .exempt_from_width = kAliased});
  }
  for (const double window_s : {1.0, 10.0}) {
    for (const Load& load : loads_in_step()) {
      cells.push_back({.mode = "gauge",
                       .machine = gpu_25_100(),
                       .load = load,
                       .window_s = window_s,
                       .exempt_from_width = kInStep});
    }
  }
}

/// A counter that adds up what the gauge shows: it says that, or that nobody knows. The same beside
/// one of its own for the load that neither `add_both_cells` has.
void add_fed_cells(Cells& cells) {
  const auto add = [&](const Load& load, double window_s, bool is_fed) {
    cells.push_back({.mode = "both",
                     .machine = with_counter(gpu_25_100(), is_fed),
                     .load = load,
                     .window_s = window_s,
                     .exempt_from_width = is_fed ? kFedCounter : ""});
  };
  const Load near = periodic("square of 104 ms", Waveform::square(200.0, 400.0, 0.104));
  for (const double window_s : {1.0, 10.0}) {
    for (const Load& load : gpu_loads(window_s)) add(load, window_s, true);
    for (const bool is_fed : {false, true}) add(near, window_s, is_fed);
  }
}

void add_both_cells(Cells& cells) {
  for (const double window_s : {1.0, 10.0}) {
    for (const Load& load : gpu_loads(window_s)) {
      cells.push_back({.mode = "both",
                       .machine = with_counter(gpu_25_100(), false),
                       .load = load,
                       .window_s = window_s});
    }
  }
  add_fed_cells(cells);
  for (const bool is_fed : {false, true}) {
    cells.push_back({.mode = "both",
                     .machine = on_time(with_counter(gpu_25_100(), is_fed)),
                     .load = at_the_gauges_period(),
                     .window_s = 10.0,
                     .exempt_from_width = kAliased});
  }
}

/// The public classes that choose among a board's sensors: the gauge sees its highest power alone,
/// or its lowest, and the counter all of it.
void add_public_cells(Cells& cells) {
  for (const std::string_view mode : {"monitor", "summary"}) {
    cells.push_back({.mode = mode,
                     .machine = on_time(with_counter(gpu_25_100(), false)),
                     .load = at_the_gauges_period(),
                     .window_s = 10.0,
                     .exempt_from_width = kAliased});
  }
}

/// Energies that are known without a lab: the gauge shows the power of the instant, and is renewed
/// exactly when the load changes.
void add_exact_cells(Cells& cells) {
  Machine machine = gpu("gpu in step", {.mean_s = 0.1}, 0.0);
  machine.random_phase = false;
  machine.reader = {.shortest_s = 0.0, .mean_extra_s = 0.0};
  const auto add = [&](std::string_view name, const Waveform& shape, double window_s) {
    cells.push_back({.mode = "gauge",
                     .machine = machine,
                     .load = {.name = std::string(name), .shape = shape},
                     .window_s = window_s,
                     .variation = 0.0,
                     .exempt_from_width = "no error by construction"});
  };
  const Waveform step = Waveform::step(100.0, 300.0);
  add("constant 100 W", Waveform::constant(100.0), 10.0);
  add("100 to 300 W after 5 s", step.delayed(5.0), 10.0);
  add("100 to 300 W after 4 s", step.delayed(4.0), 8.0);
}

void add_trace_cells(Cells& cells, const Waveform& trace) {
  const Load load = periodic("trace", trace);
  for (const std::string_view mode : {"plain", "interpolated"}) {
    for (const double window_s : {0.1, 1.0}) {
      cells.push_back({.mode = mode, .machine = ice_lake(), .load = load, .window_s = window_s});
    }
  }
  for (const double window_s : {1.0, 10.0}) {
    cells.push_back({.mode = "gauge", .machine = gpu_25_100(), .load = load, .window_s = window_s});
  }
}

}  // namespace

std::vector<Cell> all_cells(const std::optional<Waveform>& trace) {
  Cells cells;
  add_cpu_cells(cells, "plain");
  add_cpu_cells(cells, "meter");
  add_cpu_cells(cells, "interpolated");
  add_generation_cells(cells);
  add_aligned_cells(cells);
  add_gauge_cells(cells);
  add_both_cells(cells);
  add_public_cells(cells);
  add_exact_cells(cells);
  add_board_cells(cells);
  if (trace) add_trace_cells(cells, *trace);
  return cells;
}

}  // namespace wattle::lab
