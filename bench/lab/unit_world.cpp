#include "lab/unit_world.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>
#include <utility>

#include "lab/random.hpp"
#include "units/unit_book.hpp"

namespace wattle::lab {

namespace {

using std::chrono::nanoseconds;

/// An hour after the clock's epoch, as all virtual times here.
constexpr std::int64_t kBeginNs = 3'600'000'000'000;

class SetClock final : public TimeSource {
 public:
  void set(double seconds) noexcept {
    ns_ = std::max(ns_, kBeginNs + static_cast<std::int64_t>(seconds * 1e9));
  }
  [[nodiscard]] TimePoint now() const noexcept override { return TimePoint(nanoseconds(ns_)); }
  [[nodiscard]] nanoseconds suspended() const noexcept override { return nanoseconds(0); }

 private:
  std::int64_t ns_ = kBeginNs;
};

/// When units start and end, and when their threads compute less.
struct Change {
  enum class ChangeKind : std::uint8_t { start, calm, end };
  double at_s = 0.0;
  std::size_t load = 0;
  std::size_t unit = 0;
  ChangeKind kind = ChangeKind::start;
  double power = 1.0;  ///< of the unit from then on, in the watts of its load
};

/// Levels that hold for a random time each.
class Swing {
 public:
  Swing(double depth, double mean_s, double end_s, Random& random) {
    for (double at = 0.0; at < end_s; at += 0.2 * mean_s + random.exponential(0.8 * mean_s)) {
      from_.push_back(at);
      level_.push_back(1.0 + depth * (random.chance(0.5) ? 1.0 : -1.0));
    }
  }
  [[nodiscard]] double at(double time) const {
    const auto after = std::ranges::upper_bound(from_, time);
    const auto place = std::max<std::ptrdiff_t>(1, after - from_.begin()) - 1;
    return level_[static_cast<std::size_t>(place)];
  }

 private:
  std::vector<double> from_;
  std::vector<double> level_;
};

struct Script {
  std::vector<Change> changes;
  std::size_t units = 0;
};

void add_unit(Script& script, const UnitLoad& load, std::size_t place, double at_s, double length_s,
              Random& random) {
  using Kind = Change::ChangeKind;
  const double cores = load.cores * (load.cores > 0.0 ? random.uniform(0.5, 1.5) : 0.0);
  const double most = load.cores > 0.0 ? 1.5 * cores : 1.0;
  script.changes.push_back({at_s, place, script.units, Kind::start, most});
  if (load.cores > 0.0) {
    script.changes.push_back({at_s + length_s / 3.0, place, script.units, Kind::calm, 0.5 * most});
  }
  script.changes.push_back({at_s + length_s, place, script.units, Kind::end, 0.0});
  ++script.units;
}

Script script_of(const UnitWorld& world, Random& random) {
  Script script;
  const double end_s = world.lead_s + world.length_s;
  const Swing common(world.loads.front().swing, world.loads.front().swing_s, end_s, random);
  for (std::size_t i = 0; i < world.loads.size(); ++i) {
    const UnitLoad& load = world.loads[i];
    const Swing own(load.swing, load.swing_s, end_s, random);
    const Swing& swing = world.swings_together ? common : own;
    const double most_rate = load.running / load.mean_s * (1.0 + load.swing);
    double at_s = world.lead_s;
    while (true) {
      double length_s = load.mean_s * random.uniform(0.5, 1.5);
      if (load.is_in_turn) {
        // `running` is the part of the time in which one runs.
        at_s += random.exponential(load.mean_s * (1.0 / std::min(load.running, 0.99) - 1.0));
      } else {
        at_s += random.exponential(1.0 / most_rate);
        if (!random.chance(swing.at(at_s) / (1.0 + load.swing))) {
          if (at_s >= end_s) break;
          continue;
        }
      }
      if (at_s >= end_s) break;
      add_unit(script, load, i, at_s, length_s, random);
      if (load.is_in_turn) at_s += length_s;
    }
  }
  std::ranges::sort(script.changes, {}, &Change::at_s);
  return script;
}

/// The energy over time, exactly.
class Power {
 public:
  explicit Power(const UnitWorld& world) : world_(world) {}

  void add(double at_s, double watts) {
    times_.push_back(at_s);
    active_.push_back(
        active_.empty() ? 0.0 : active_.back() + watts_ * (at_s - times_[times_.size() - 2]));
    watts_ = watts;
  }
  /// Of the units.
  [[nodiscard]] double active(double at_s) const {
    const auto after = std::ranges::upper_bound(times_, at_s);
    if (after == times_.begin()) return 0.0;
    const auto place = static_cast<std::size_t>(after - times_.begin()) - 1;
    if (place + 1 == times_.size()) return active_[place] + watts_ * (at_s - times_[place]);
    const double part = (at_s - times_[place]) / (times_[place + 1] - times_[place]);
    return active_[place] + part * (active_[place + 1] - active_[place]);
  }
  [[nodiscard]] double all(double at_s) const {
    const double end_s = world_.lead_s + world_.length_s;
    const double drift = 0.5 * world_.idle_drift_w * at_s * at_s / end_s;
    // The other program comes after the idle power was measured.
    const double other = world_.other_w * std::max(0.0, at_s - world_.lead_s);
    return world_.idle_w * at_s + drift + other + active(at_s);
  }

 private:
  const UnitWorld& world_;
  std::vector<double> times_;
  std::vector<double> active_;
  double watts_ = 0.0;
};

Power power_of(const UnitWorld& world, const Script& script) {
  Power power(world);
  double above_w = 0.0;
  std::vector<double> of_units(script.units, 0.0);
  power.add(0.0, 0.0);
  for (const Change& change : script.changes) {
    const double watts = world.loads[change.load].watts * change.power;
    above_w += watts - std::exchange(of_units[change.unit], watts);
    const double limited =
        world.limit_w > 0.0 ? above_w / (1.0 + above_w / world.limit_w) : above_w;
    power.add(change.at_s, limited);
  }
  return power;
}

/// What the sensor shows, one update after the other.
class Updates {
 public:
  Updates(const UnitWorld& world, const Power& power, Random& random)
      : world_(world), power_(power), random_(random) {
    advance();
  }
  [[nodiscard]] double next_s() const noexcept { return next_s_; }
  /// The reading from the last update to this one.
  detail::UnitReading take() {
    const double shown = std::floor(raw_j_ / world_.tick_j) * world_.tick_j;
    const auto time = [](double seconds) {
      return TimePoint(nanoseconds(kBeginNs + static_cast<std::int64_t>(seconds * 1e9)));
    };
    detail::UnitReading reading{.begin = time(last_s_), .end = time(next_s_)};
    const bool is_lost = world_.lost_from_s > 0.0 && next_s_ > world_.lost_from_s;
    if (is_lost) {
      reading.energy.unknown = Seconds(next_s_ - last_s_);
    } else {
      reading.energy.energy = Joules(shown - shown_j_);
      reading.energy.uncertainty = Joules(2.0 * world_.tick_j);
    }
    shown_j_ = shown;
    last_s_ = next_s_;
    advance();
    return reading;
  }

 private:
  void advance() {
    const double step_s = world_.update_s * (1.0 + world_.jitter * random_.uniform(-1.0, 1.0));
    noise_j_ += world_.noise_w * random_.normal() * step_s;
    next_s_ += step_s;
    raw_j_ = power_.all(std::max(0.0, next_s_ - world_.lag_s)) + noise_j_;
  }

  const UnitWorld& world_;
  const Power& power_;
  Random& random_;
  double noise_j_ = 0.0;
  double raw_j_ = 0.0;
  double shown_j_ = 0.0;
  double last_s_ = 0.0;
  double next_s_ = 0.0;
};

/// The CPU time of the threads of units: each has one of its own.
class WorldThreads final : public detail::ThreadClock {
 public:
  explicit WorldThreads(std::size_t units) : threads_(units) {}

  void change(const Change& change) noexcept {
    SimulatedThread& thread = threads_[change.unit];
    thread.used_s += thread.cores * (change.at_s - thread.at_s);
    thread.at_s = change.at_s;
    thread.cores = change.power;
  }
  void set(double now_s) noexcept { now_s_ = now_s; }
  [[nodiscard]] double used_s(std::size_t unit) const noexcept {
    const SimulatedThread& thread = threads_[unit];
    return thread.used_s + thread.cores * std::max(0.0, now_s_ - thread.at_s);
  }
  [[nodiscard]] detail::ThreadTime here() const noexcept override { return {}; }
  [[nodiscard]] std::int64_t used_ns(std::int32_t thread) const noexcept override {
    return static_cast<std::int64_t>(used_s(static_cast<std::size_t>(thread) - 1) * 1e9);
  }
  /// That of a unit.
  [[nodiscard]] detail::ThreadTime of(std::size_t unit) const noexcept {
    const auto thread = static_cast<std::int32_t>(unit + 1);
    return {.thread = thread, .used_ns = used_ns(thread)};
  }

 private:
  struct SimulatedThread {
    double used_s = 0.0;
    double at_s = 0.0;
    double cores = 0.0;
  };
  std::vector<SimulatedThread> threads_;
  double now_s_ = 0.0;
};

double closure_of(const UnitsReport& report) {
  double worst = 0.0;
  for (const UnitDomain& domain : report.domains) {
    const UnitBalance& balance = domain.balance;
    const Joules sum = balance.units + balance.running + balance.idle + balance.without_units;
    const double size = std::max(1.0, std::abs(balance.measured.si()));
    worst = std::max(worst, std::abs((sum - balance.measured).si()) / size);
  }
  return worst;
}

}  // namespace

UnitOutcome simulate(const UnitWorld& world, std::uint64_t seed) {
  Random random(seed);
  const Script script = script_of(world, random);
  const Power power = power_of(world, script);

  SetClock clock;
  detail::UnitEvents events(clock);
  detail::UnitTags tags(16);
  detail::DividedDomain domain{.name = "nvidia_gpu_0"};
  if (world.idle_doubt_w > 0.0) {
    const double stated = world.idle_w + random.normal() * world.idle_doubt_w / 2.0;
    domain.idle = UnitIdlePower{domain.name, Watts(stated), Watts(world.idle_doubt_w)};
  }
  WorldThreads threads(script.units);
  detail::UnitBook book(events, tags, {domain}, {.idle = world.idle_share, .threads = &threads});

  UnitOutcome outcome;
  std::vector<std::uint16_t> columns;
  for (const UnitLoad& load : world.loads) {
    outcome.truth.push_back({.tag = load.tag});
    columns.push_back(tags.column(load.tag));
  }
  struct Running {
    detail::UnitEvents::Started started;
    double begin_s = 0.0;
  };
  std::vector<Running> running(script.units);
  const std::int64_t weight = *detail::weight_steps(1.0);
  const auto done = [&](const UnitEnergy& unit) {
    if (unit.energy.energy) outcome.unit_sum_j += unit.energy.energy->si();
  };

  Updates updates(world, power, random);
  const double end_s = script.changes.empty() ? 1.0 : script.changes.back().at_s + 1.0;
  double settled_s = 0.0;
  auto change = script.changes.begin();
  while (updates.next_s() < end_s) {
    for (; change != script.changes.end() && change->at_s < updates.next_s(); ++change) {
      clock.set(change->at_s);
      threads.set(change->at_s);
      threads.change(*change);
      Running& unit = running[change->unit];
      const UnitLoad& load = world.loads[change->load];
      const auto thread = load.cores > 0.0 ? threads.of(change->unit) : detail::ThreadTime{};
      if (change->kind == Change::ChangeKind::start) {
        unit = {.started = *events.begin(columns[change->load], weight, 0, thread),
                .begin_s = change->at_s};
      }
      if (change->kind != Change::ChangeKind::end) continue;
      (void)events.leave({.weight = weight,
                          .used_ns = thread.used_ns,
                          .slot = detail::slot_of(unit.started.id),
                          .thread = thread.thread,
                          .column = columns[change->load],
                          .kind = detail::UnitEvent::EventKind::end},
                         unit.started.at_ns);
      UnitTruth& truth = outcome.truth[change->load];
      ++truth.count;
      truth.joules += load.watts * (load.cores > 0.0 ? threads.used_s(change->unit)
                                                     : change->at_s - unit.begin_s);
    }
    clock.set(updates.next_s());
    threads.set(updates.next_s());
    book.add(0, updates.take());
    if (updates.next_s() < settled_s + 0.05) continue;
    settled_s = updates.next_s();
    book.settle(done);
  }
  clock.set(end_s + 1.0);
  threads.set(end_s + 1.0);
  book.settle(done);
  outcome.report = book.report();
  outcome.closure = closure_of(outcome.report);
  outcome.active_j = power.active(end_s);
  outcome.unexplained_w = world.other_w + world.idle_drift_w *
                                              (world.lead_s + world.length_s / 2.0) /
                                              (world.lead_s + world.length_s);
  outcome.units = script.units;
  outcome.pending = book.pending_events();
  return outcome;
}

}  // namespace wattle::lab
