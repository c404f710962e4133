#include "lab/filter_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/numbers/reservoir.hpp"
#include "lab/cell_parts.hpp"
#include "lab/random.hpp"
#include "lab/sensor_model.hpp"
#include "lab/world.hpp"
#include "sampling/integrate.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::lab {
namespace {

using std::chrono::nanoseconds;

constexpr double kStepS = 1e-3;    ///< of the simulation
constexpr double kBeforeS = 12.0;  ///< the filter's memory
constexpr double kReadEachS = 0.1;
constexpr double kFilterIdleW = 60.0;
constexpr double kFilterBusyW = 450.0;

nanoseconds in_nanoseconds(double seconds) { return nanoseconds(std::llround(seconds * 1e9)); }

/// What the filter shows after each step of the simulation.
class FilterCourse {
 public:
  FilterCourse(const Filter& filter, const Waveform& power, double end_s) {
    std::array<double, 3> stages{};
    stages.fill(power.power_w(-kBeforeS));
    for (double at_s = -kBeforeS; at_s < end_s; at_s += kStepS) {
      double input_w = power.energy_j(at_s, at_s + kStepS) / kStepS;
      if (filter.order == 0) {
        values_w_.push_back(power.mean_w(at_s + kStepS, filter.rise_s));
        continue;
      }
      for (int i = 0; i < filter.order; ++i) {
        double& stage_w = stages[static_cast<std::size_t>(i)];
        const double constant_s = input_w > stage_w ? filter.rise_s : filter.fall_s;
        stage_w += (input_w - stage_w) * -std::expm1(-kStepS / constant_s);
        input_w = stage_w;
      }
      values_w_.push_back(input_w);
    }
  }
  [[nodiscard]] double at_w(double time_s) const noexcept {
    const auto place = static_cast<std::ptrdiff_t>((time_s + kBeforeS) / kStepS) - 1;
    const auto last = static_cast<std::ptrdiff_t>(values_w_.size()) - 1;
    return values_w_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, last))];
  }

 private:
  std::vector<double> values_w_;
};

// What models of gauges refer to while they live.
const GaugeModel& instant_gauge() {
  static const GaugeModel model{
      .name = {}, .update = {.mean_s = 0.1, .spread_s = 0.1e-3, .between_boards = 0.01}};
  return model;
}

CounterModel board_counter() {
  return {.name = "board counter",
          .domain = Domain::nvidia_gpu(0),
          .update = kGpuUpdate,
          .tick_j = 1e-3,
          .unit_j = 1e-3,
          .max_power_w = 5000.0};
}

Channel average_channel() {
  Channel channel = {.domain = Domain::nvidia_gpu(0),
                     .update = known_gpu("NVIDIA RTX A5000", 550).average.update,
                     .source = "lab",
                     .metric = Metric::power_average,
                     .gauge = {.scale = 1e-3}};
  channel.gauge.longest_lag = kAverageLongestLag;
  channel.gauge.freezes = kAverageFreezes;
  return channel;
}

Waveform power_of(const FilterCell& cell, Random& random) {
  const double window_s = cell.window_s;
  const auto anywhere = [&](const Waveform& shape) {
    return shape.delayed(random.uniform(0.0, 100.0));
  };
  const Waveform idle =
      anywhere(Waveform::noise(kFilterIdleW - 3.0, kFilterIdleW + 3.0, 0.005, kIdleSeed));
  const auto work = [&](const Waveform& shape, double from_s, double to_s) {
    return anywhere(shape).only_between(from_s, to_s, idle);
  };
  if (cell.load == "steps at the edges")
    return work(Waveform::constant(kFilterBusyW), 0.0, window_s);
  if (cell.load == "work, 130 ms square")
    return work(Waveform::square(200.0, kFilterBusyW, 0.13), 0.0, window_s);
  if (cell.load == "job inside") {
    const double from_s = 0.4 * window_s * random.uniform();
    return work(Waveform::constant(kFilterBusyW), from_s, from_s + 0.6 * window_s);
  }
  if (cell.load == "step inside")
    return Waveform::step(kFilterIdleW, kFilterBusyW).delayed(random.uniform(0.0, window_s));
  if (cell.load == "fall inside")
    return Waveform::step(kFilterBusyW, kFilterIdleW).delayed(random.uniform(0.0, window_s));
  if (cell.load == "step near the end")
    return Waveform::step(kFilterIdleW, kFilterBusyW).delayed(window_s - random.uniform(0.0, 1.0));
  if (cell.load == "step near the start")
    return Waveform::step(kFilterIdleW, kFilterBusyW).delayed(random.uniform(-1.0, 1.0));
  if (cell.load == "pulse near the end") {
    const double from_s = window_s - random.uniform(0.3, 1.3);
    return Waveform::constant(kFilterBusyW).only_between(from_s, from_s + 0.3, idle);
  }
  if (cell.load == "steady") return Waveform::constant(300.0);
  if (cell.load == "sine 3 Hz") return anywhere(Waveform::sine(255.0, 195.0, 1.0 / 3.0));
  if (cell.load == "square of 1 s")
    return anywhere(Waveform::square(kFilterIdleW, kFilterBusyW, 1.0));
  if (cell.load == "bursts")
    return anywhere(Waveform::bursts(kFilterIdleW, kFilterBusyW, 0.4, 0.2, kBurstSeed));
  if (cell.load == "random, 1 s")
    return anywhere(Waveform::noise(kFilterIdleW, kFilterBusyW, 1.0, kNoiseSeed));
  return anywhere(Waveform::noise(kFilterIdleW, kFilterBusyW, 0.03, kNoiseSeed));  // "random"
}

constexpr std::array<std::string_view, 14> kFilterLoads = {"steady",
                                                           "steps at the edges",
                                                           "work, 130 ms square",
                                                           "job inside",
                                                           "step inside",
                                                           "fall inside",
                                                           "step near the end",
                                                           "step near the start",
                                                           "pulse near the end",
                                                           "sine 3 Hz",
                                                           "square of 1 s",
                                                           "bursts",
                                                           "random, 1 s",
                                                           "random"};

/// A sensor read as a run does.
struct Trial {
  double truth_j = 0.0;
  EnergyFigure figure;
  bool is_flagged = false;
};

Trial run_trial(const FilterCell& cell, std::uint64_t seed) {
  Random random(seed);
  const double length_s = cell.window_s * random.uniform(0.9, 1.1);
  FilterCell sized = cell;
  sized.window_s = length_s;
  const Waveform power = power_of(sized, random);
  const FilterCourse course(cell.filter, power, length_s + kStepS);
  const UpdateModel pace = {
      .mean_s = cell.update_s, .spread_s = 1e-3 * cell.update_s, .between_boards = 0.0};
  const UpdateTimes updates(pace, cell.update_s * random.uniform(), random.bits());
  const UpdateTimes others(kGpuUpdate, 0.1 * random.uniform(), random.bits());
  const Counter counter(board_counter(), others, -1.0, 1e5, power);
  const Gauge instant(instant_gauge(), others, power);

  const auto history_of = [](const Channel& channel) {
    return History(channel,
                   {.period = in_nanoseconds(kReadEachS), .memory_limit = std::size_t{64} << 10U});
  };
  History average = history_of(average_channel());
  History counted = history_of(channel_of(board_counter()));
  Channel instant_channel = channel_of(instant_gauge());
  History shown = history_of(instant_channel);
  std::optional<Boundary> first;
  const auto read = [&](double at_s) {
    const auto add = [&](History& history, std::uint64_t raw) {
      history.add({.at = World::time_point(at_s),
                   .half_width = nanoseconds(1000),
                   .raw = raw,
                   .status = ReadStatus::ok});
    };
    const double value_w = course.at_w(updates.at_s(updates.last_before(at_s)));
    add(average, static_cast<std::uint64_t>(std::llround(value_w * 1e3)));
    if (cell.beside == Beside::instant) add(shown, instant.raw_at(at_s));
    if (cell.beside == Beside::counter) add(counted, counter.raw_at(at_s));
    if (!first) first = counted.last();
  };
  read(0.0);
  for (int i = 1; i * kReadEachS < length_s; ++i) {
    read(i * kReadEachS + random.exponential(50e-6));
  }
  read(length_s);
  EnergyWindow window{.begin = World::time_point(0.0), .end = World::time_point(length_s)};
  if (cell.beside == Beside::counter) {
    window.first = first;
    window.last = counted.last();
  }
  std::vector<const History*> gauges;
  if (cell.beside == Beside::instant) gauges.push_back(&shown);
  gauges.push_back(&average);
  Trial trial{
      .truth_j = power.energy_j(0.0, length_s),
      .figure = domain_energy(cell.beside == Beside::counter ? &counted : nullptr, gauges, window)};
  trial.is_flagged = trial.figure.flags.has(Flag::coverage_unknown);
  for (const AlternativeEnergy& other : trial.figure.alternatives) {
    trial.is_flagged = trial.is_flagged || other.flags.has(Flag::coverage_unknown);
  }
  return trial;
}

}  // namespace

std::string Filter::name() const {
  if (order == 0) return fmt::format("mean over {:g} s", rise_s);
  const std::string constants = is_lopsided()
                                    ? fmt::format("{:g} s up, {:g} s down", rise_s, fall_s)
                                    : fmt::format("{:g} s", rise_s);
  return fmt::format("order {}, {}", order, constants);
}

std::string FilterCell::name() const {
  const char* other = beside == Beside::counter   ? " + counter"
                      : beside == Beside::instant ? " + instant gauge"
                                                  : "";
  return fmt::format("{}{}, renewed every {:g} s, {}, {:g} s", filter.name(), other, update_s, load,
                     window_s);
}

std::string_view FilterCell::limit() const {
  if (beside != Beside::nothing) return {};
  const bool is_slow = update_s >= 0.5;
  if (load == "step near the end" || (load == "pulse near the end" && is_slow) ||
      (load.ends_with(" inside") && (is_slow || window_s < 10.0))) {
    return "the power changed after the newest values";
  }
  const bool repeats = load == "sine 3 Hz" || load == "square of 1 s";
  if (update_s >= 1.0 && repeats) return "the load is in step with the updates";
  if (update_s >= 1.0 && window_s < 10.0) return "the window has two or three values";
  const bool swings_quickly = load == "work, 130 ms square" || load == "random" || repeats;
  if (filter.is_lopsided() && (swings_quickly || (is_slow && load == "bursts"))) {
    return "it follows rises and falls unlike, and its values hide that the power swings";
  }
  return {};
}

std::vector<FilterCell> filter_cells() {
  constexpr std::array kFilters = {Filter{0, 1.0, 1.0}, Filter{1, 0.1, 0.1}, Filter{1, 0.5, 0.5},
                                   Filter{1, 1.0, 1.0}, Filter{1, 1.8, 1.8}, Filter{2, 0.2, 0.2},
                                   Filter{2, 0.6, 0.6}, Filter{2, 0.9, 0.9}, Filter{1, 0.3, 0.9},
                                   Filter{1, 1.2, 0.4}, Filter{2, 0.3, 0.6}};
  std::vector<FilterCell> cells;
  for (const Filter& filter : kFilters) {
    for (const double update_s : {0.02, 0.1, 0.5, 1.0}) {
      for (const std::string_view load : kFilterLoads) {
        for (const double window_s : {2.0, 10.0}) {
          cells.push_back(
              {.filter = filter, .update_s = update_s, .load = load, .window_s = window_s});
        }
      }
    }
    for (const Beside beside : {Beside::counter, Beside::instant}) {
      for (const std::string_view load : kFilterLoads) {
        for (const double window_s : {2.0, 10.0}) {
          cells.push_back({.filter = filter, .load = load, .window_s = window_s, .beside = beside});
        }
      }
    }
  }
  return cells;
}

FilterResult simulate_filter(const FilterCell& cell, std::size_t trials, std::uint64_t seed) {
  FilterResult result;
  std::vector<double> errors;
  std::vector<double> half_widths;
  Random random(seed);
  for (std::size_t i = 0; i < trials; ++i) {
    const Trial trial = run_trial(cell, random.bits());
    const double energy_j = trial.figure.energy.value_or(Joules()).si();
    const double half_width_j = trial.figure.uncertainty.si();
    const double error_j = energy_j - trial.truth_j;
    if (std::abs(error_j) <= half_width_j) result.coverage += 1.0;
    if (trial.figure.metric == Metric::power_average) result.believed += 1.0;
    if (trial.figure.flags.has(Flag::disagrees)) result.disagrees += 1.0;
    if (trial.is_flagged) result.unknown += 1.0;
    errors.push_back(std::abs(error_j) / trial.truth_j);
    half_widths.push_back(half_width_j / trial.truth_j);
  }
  const auto count = static_cast<double>(trials);
  for (double* part : {&result.coverage, &result.believed, &result.disagrees, &result.unknown}) {
    *part /= count;
  }
  result.median_half_width = wattle::quantile<double>(wattle::sorted<double>(half_widths), 0.5);
  result.p95 = wattle::quantile<double>(wattle::sorted<double>(errors), 0.95);
  return result;
}

}  // namespace wattle::lab
