#include "lab/estimators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "energy/metered_domains.hpp"
#include "fakes/temp_folder.hpp"
#include "lab/common_ways.hpp"
#include "power/monitor_parts.hpp"
#include "run_monitor/recording.hpp"
#include "sampling/counters/fed_counter.hpp"
#include "sampling/integrate.hpp"

namespace wattle::lab {
namespace {

Estimate estimate_of(const EnergyFigure& figure, TimePoint begin, TimePoint end) {
  Estimate estimate{.begin = begin, .end = end, .flags = figure.flags};
  if (figure.energy) {
    estimate.energy_j = figure.energy->si();
    estimate.half_width_j = figure.uncertainty.si();
    if (!figure.alternatives.empty()) {
      estimate.energy_beside_j = figure.alternatives.front().energy.value_or(Joules()).si();
      estimate.half_width_beside_j = figure.alternatives.front().uncertainty.si();
    }
  }
  return estimate;
}

std::chrono::nanoseconds lane_period(const World& world) noexcept {
  return std::chrono::nanoseconds(std::llround(world.lane_s() * 1e9));
}

/// Enough for ten seconds at 1 kHz.
constexpr std::size_t kHistoryBytes = std::size_t{64} << 10U;

History history_of(const Channel& channel, std::chrono::nanoseconds period) {
  return {channel, {.period = period, .memory_limit = kHistoryBytes}};
}

/// As a run does: reads when the window begins and when it ends, and as often as a lane in between.
/// `read` is called for each. The window lies between the two times that are returned.
template <class Read>
std::pair<double, double> watch(World& world, double length_s, Read read) {
  world.wait_until(0.0);
  read();
  const double begin_s = world.now_s();
  const double end_s = begin_s + length_s;
  world.work_between(begin_s, end_s);
  for (int i = 1; begin_s + i * world.lane_s() < end_s; ++i) {
    world.wait_until(begin_s + i * world.lane_s());
    read();
  }
  world.wait_until(end_s);
  const double ended_s = world.now_s();
  read();
  return {begin_s, ended_s};
}

/// A counter, and its values at the ends of a window: what lies outside is unknown to it.
class WatchedCounter {
 public:
  explicit WatchedCounter(World& world)
      : history_(
            history_of(world.sensor().channels()[World::counter_channel()], lane_period(world))) {}

  void add(const Reading& reading) noexcept {
    history_.add(reading);
    if (!first_) first_ = history_.last();
  }
  [[nodiscard]] const History& history() const noexcept { return history_; }
  [[nodiscard]] EnergyFigure figure(TimePoint begin, TimePoint end) const {
    return counter_energy(history_,
                          {.begin = begin, .end = end, .first = first_, .last = history_.last()});
  }
  /// The time between its first and its last value.
  [[nodiscard]] Estimate estimate(TimePoint begin, TimePoint end) const {
    const TimePoint first = first_ ? first_->at : begin;
    const TimePoint last = first_ ? history_.last().value_or(*first_).at : end;
    return estimate_of(figure(first, last), first, last);
  }

 private:
  History history_;
  std::optional<Boundary> first_;
};

Estimate plain(World& world, double length_s) {
  const std::size_t channel = World::counter_channel();
  WatchedCounter counter(world);
  const auto [begin_s, end_s] = watch(world, length_s, [&] { counter.add(world.read(channel)); });
  return counter.estimate(World::time_point(begin_s), World::time_point(end_s));
}

constexpr std::chrono::nanoseconds kCounterPeriod = std::chrono::milliseconds(1);

/// As a lane that follows the counter's own pace. `read` is called for each reading.
template <class Read>
void follow_counter(World& world, double length_s, Read read) {
  constexpr double kPeriodS = 1e-3;
  constexpr double kMarginS = 0.02;
  world.work_between(0.0, length_s);
  wake_each(world, -kMarginS, length_s + kMarginS, kPeriodS, read);
}

/// Asked for afterwards.
Estimate interpolated(World& world, double length_s) {
  const std::size_t channel = World::counter_channel();
  History history = history_of(world.sensor().channels()[channel], kCounterPeriod);
  follow_counter(world, length_s, [&] { history.add(world.read(channel)); });
  const TimePoint begin = World::time_point(0.0);
  const TimePoint end = World::time_point(length_s);
  return estimate_of(counter_energy(history, {.begin = begin, .end = end}), begin, end);
}

Estimate gauge(World& world, double length_s) {
  const std::size_t channel = world.gauge_channel();
  History history = history_of(world.sensor().channels()[channel], lane_period(world));
  const auto [begin_s, end_s] = watch(world, length_s, [&] { history.add(world.read(channel)); });
  const TimePoint begin = World::time_point(begin_s);
  const TimePoint end = World::time_point(end_s);
  return estimate_of(gauge_energy(history, begin, end), begin, end);
}

/// The better one of a counter and a gauge.
Estimate both(World& world, double length_s) {
  const auto channels = world.sensor().channels();
  WatchedCounter counter(world);
  History gauge = history_of(channels[world.gauge_channel()], lane_period(world));
  const auto [begin_s, end_s] = watch(world, length_s, [&] {
    counter.add(world.read(World::counter_channel()));
    gauge.add(world.read(world.gauge_channel()));
  });
  const TimePoint begin = World::time_point(begin_s);
  const TimePoint end = World::time_point(end_s);
  EnergyFigure counted = counter.figure(begin, end);
  const EnergyFigure summed = gauge_energy(gauge, begin, end);
  add_feed(counted, counter.history(), gauge, summed, end);
  return estimate_of(best_energy({counted, summed}), begin, end);
}

/// One channel of a world's sensor. The world outlives it.
class BorrowedChannel final : public Sensor {
 public:
  BorrowedChannel(World& world, std::size_t channel)
      : world_(world), channel_(channel), channels_{world.sensor().channels()[channel]} {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    readings[0] = world_.read(channel_);
  }

 private:
  World& world_;
  std::size_t channel_;
  std::array<Channel, 1> channels_;
};

PowerMonitor monitor_of(World& world, std::size_t channel, std::chrono::nanoseconds period) {
  Survey found;
  found.sensors.push_back(std::make_unique<BorrowedChannel>(world, channel));
  return PowerMonitorMaker::make(std::move(found), world.clock(),
                                 {.update_period = period, .memory_limit = 4 * kHistoryBytes},
                                 ReadBy::caller);
}

Estimate estimate_of(const MeasuredEnergy& energy, TimePoint begin, TimePoint end) {
  return estimate_of(EnergyFigure{.energy = energy.energy,
                                  .uncertainty = energy.uncertainty,
                                  .unknown = energy.unknown,
                                  .flags = energy.flags},
                     begin, end);
}

/// All channels of a world's sensor. The world outlives it.
class BorrowedSensor final : public Sensor {
 public:
  explicit BorrowedSensor(World& world) : world_(world) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override {
    return world_.sensor().channels();
  }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override {
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (wanted[i]) readings[i] = world_.read(i);
    }
  }

 private:
  World& world_;
};

/// A power monitor of the whole board, asked afterwards.
Estimate monitored(World& world, double length_s) {
  constexpr double kMarginS = 1.0;
  Survey found;
  found.sensors.push_back(std::make_unique<BorrowedSensor>(world));
  PowerMonitor monitor = PowerMonitorMaker::make(
      std::move(found), world.clock(), {.update_period = lane_period(world)}, ReadBy::caller);
  world.work_between(0.0, length_s);
  wake_each(world, -kMarginS, length_s + kMarginS, world.lane_s(),
            [&] { PowerMonitorMaker::read(monitor); });
  const TimePoint begin = World::time_point(0.0);
  const TimePoint end = World::time_point(length_s);
  const BestEnergy energy = monitor.energy(begin, end).begin()->second;
  Estimate estimate = estimate_of(energy, begin, end);
  if (!energy.alternatives.empty() && energy.alternatives.front().energy) {
    estimate.energy_beside_j = energy.alternatives.front().energy->si();
    estimate.half_width_beside_j = energy.alternatives.front().uncertainty.si();
  }
  return estimate;
}

/// The files of a run monitor, with a row each 2 s, and their summary.
Estimate summarized(World& world, double length_s) {
  const fakes::TempFolder folder;
  System nowhere;
  nowhere.procfs = folder.path() / "proc";
  nowhere.sysfs = folder.path() / "sys";
  Survey found;
  found.sensors.push_back(std::make_unique<BorrowedSensor>(world));
  Recording recording(std::move(found), world.clock(), folder.path(), {.system = nowhere});
  world.wait_until(0.0);
  const double begin_s = world.now_s();
  const double end_s = begin_s + length_s;
  world.work_between(begin_s, end_s);
  recording.begin();
  const double period_s = Seconds(recording.period()).count();
  for (int i = 1; begin_s + i * period_s < end_s; ++i) {
    world.wait_until(begin_s + i * period_s);
    recording.tick(false);
  }
  world.wait_until(end_s);
  const double ended_s = world.now_s();
  recording.tick(true);
  const ResourceSummary summary = build_resource_summary(recording.files());
  Estimate estimate{.begin = World::time_point(begin_s),
                    .end = World::time_point(ended_s),
                    .flags = summary.energy_flags};
  if (summary.energy) estimate.energy_j = summary.energy->si();
  if (summary.energy_uncertainty) estimate.half_width_j = summary.energy_uncertainty->si();
  return estimate;
}

Estimate monitored_gauge(World& world, double length_s) {
  PowerMonitor monitor = monitor_of(world, world.gauge_channel(), lane_period(world));
  const auto [begin_s, end_s] = watch(world, length_s, [&] { PowerMonitorMaker::read(monitor); });
  const TimePoint begin = World::time_point(begin_s);
  const TimePoint end = World::time_point(end_s);
  return estimate_of(monitor.energy(begin, end).begin()->second, begin, end);
}

Estimate monitored_counter(World& world, double length_s) {
  PowerMonitor monitor = monitor_of(world, World::counter_channel(), kCounterPeriod);
  follow_counter(world, length_s, [&] { PowerMonitorMaker::read(monitor); });
  const TimePoint begin = World::time_point(0.0);
  const TimePoint end = World::time_point(length_s);
  return estimate_of(monitor.cpu_energy(begin, end).begin()->second, begin, end);
}

EnergyMeter meter_of(World& world, bool aligned) {
  const std::size_t channel = World::counter_channel();
  detail::MeterParts parts;
  parts.domains.push_back(world.sensor().channels()[channel].domain);
  parts.sensors.push_back(std::make_unique<BorrowedChannel>(world, channel));
  parts.aligned = aligned;
  parts.starts_keeper = false;
  return detail::EnergyMeterMaker::meter(
      std::make_shared<detail::MeteredDomains>(std::move(parts), world.clock()));
}

Estimate measured(World& world, double length_s, EnergyMeter meter) {
  meter.start();
  const double begin_s = world.now_s();
  const double end_s = begin_s + length_s;
  world.work_between(begin_s, end_s);
  world.wait_until(end_s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  const EnergySample& sample = trace[std::size_t{0}];
  const auto length = std::chrono::round<std::chrono::nanoseconds>(sample.duration());
  return estimate_of(sample.energies()[0], sample.timestamp(), sample.timestamp() + length);
}

Estimate meter(World& world, double length_s) {
  world.wait_until(0.0);
  return measured(world, length_s, meter_of(world, false));
}

Estimate aligned(World& world, double length_s) {
  constexpr double kWaitS = 0.06;  // for fifty updates
  world.wait_until(-kWaitS);
  return measured(world, length_s, meter_of(world, true));
}

constexpr std::array kMonitorWays = {
    Way{"gauge", false, true, monitored_gauge},
    Way{"interpolated", true, false, monitored_counter},
};

constexpr std::array kModes = {
    Way{"plain", true, false, plain},
    Way{"meter", true, false, meter},
    Way{"interpolated", true, false, interpolated},
    Way{"aligned", true, false, aligned},
    Way{"gauge", false, true, gauge},
    Way{"both", true, true, both},
    Way{"monitor", true, true, monitored},
    Way{"summary", true, true, summarized},
};

constexpr std::array kCommonWays = {
    Way{"two reads", true, false, two_reads},
    Way{"trapezoid", false, true, trapezoid},
    Way{"1 s polls", false, true, one_second_polls},
};

}  // namespace

std::span<const Way> modes() noexcept { return kModes; }

std::span<const Way> common_ways() noexcept { return kCommonWays; }

std::span<const Way> monitor_ways() noexcept { return kMonitorWays; }

const Way* find_mode(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kModes, name, &Way::name);
  return found == kModes.end() ? nullptr : found;
}

bool can_use(const Way& way, const Machine& machine) noexcept {
  return (!way.needs_counter || machine.counter) && (!way.needs_gauge || machine.gauge);
}

}  // namespace wattle::lab
