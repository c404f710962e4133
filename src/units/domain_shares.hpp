// The energy of one domain, divided among the units that ran while it was spent.
//
// On each interval between two readings, r = (energy - idle power x length) / integral of the
// running weight: joules per weight and second. The sum of r over time, S, has its knots at
// readings alone, and grows while a unit runs. So a unit of weight w has w (S(end) - S(begin)), and
// all units of an interval have its energy together. Where units are divided by CPU time, the load
// of their threads is the weight, and a thread has a curve of its own, which grows with S.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers/moments.hpp"
#include "units/thread_loads.hpp"
#include "units/unit_events.hpp"
#include "wattle/energy.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

/// A domain that is divided.
struct DividedDomain {
  std::string name;
  std::uint8_t gpu = 0;  ///< the number of the GPU in events; 0: it is none
  std::optional<UnitIdlePower> idle{};
};

/// The energy from one reading of a sensor to the next.
struct UnitReading {
  TimePoint begin;
  TimePoint end;
  MeasuredEnergy energy{};
};

/// The share that an event ends: the share of a unit, or of a phase.
struct UnitShare {
  double joules = 0.0;
  double unknown_s = 0.0;
  double variance_j2 = 0.0;     ///< of k = 2: the square of the ±
  double unit_unknown_s = 0.0;  ///< of the unit with all of its phases so far
  bool is_short = false;        ///< the unit lies between two readings
};

/// The power while no unit runs. Threads: one at a time.
class IdleWatch {
 public:
  void add(double joules, double seconds, bool is_before_units) noexcept;
  /// Before the first unit, or at any time if that was too short; absent if all of it was.
  [[nodiscard]] std::optional<UnitIdlePower> found(const std::string& domain) const noexcept;
  /// After the first unit; absent if that was too short.
  [[nodiscard]] std::optional<UnitIdlePower> later(const std::string& domain) const noexcept;

 private:
  struct IdleEnergy {
    double joules = 0.0;
    double seconds = 0.0;
    double block_joules = 0.0;  ///< of the block that is not full
    double block_seconds = 0.0;
    Moments blocks{};
    [[nodiscard]] std::optional<UnitIdlePower> power(const std::string& domain) const noexcept;
  };
  IdleEnergy before_;
  IdleEnergy after_;
};

/// Threads: one at a time.
class DomainShares {
 public:
  DomainShares(DividedDomain domain, IdleShare idle_share) noexcept
      : domain_(std::move(domain)), idle_share_(idle_share) {}

  /// The next reading. Time before it that no reading shows is unknown.
  void add(const UnitReading& reading);

  /// Divides all readings from before `until`, up to which all events are in `log`. Calls
  /// `ends(event, share)` for each event that ends a unit or a phase.
  template <class Ends>
  void divide(const UnitEventLog& log, std::int64_t until_ns, Ends ends) {
    while (take_interval(log, until_ns)) {
      visit_events(log, [&](const UnitEvent& event, std::int64_t at_ns) {
        if (event.adds_weight()) {
          enter(event, at_ns);
        } else if (event.removes_weight()) {
          ends(event, leave(event, at_ns));
        } else {
          (void)change(event, at_ns, 0);
        }
      });
      finish_interval();
    }
  }

  /// From now on the sensor is known to be this late.
  void set_lag(std::int64_t lag_ns) noexcept { lag_ns_ = lag_ns; }
  [[nodiscard]] std::int64_t lag_ns() const noexcept { return lag_ns_; }

  [[nodiscard]] bool takes_part(const UnitEvent& event) const noexcept {
    if (domain_.gpu == 0) return true;
    return event.kind != UnitEvent::EventKind::sample &&
           (event.gpu == 0 || event.gpu == domain_.gpu);
  }
  /// The event is of a unit that has its share here by the CPU time of a thread.
  [[nodiscard]] bool is_by_thread(const UnitEvent& event) const noexcept {
    return domain_.gpu == 0 && event.thread != 0;
  }
  /// The number of the first event that was not divided yet.
  [[nodiscard]] std::uint64_t next_event() const noexcept { return next_; }

  [[nodiscard]] const DividedDomain& domain() const noexcept { return domain_; }
  /// `running` is computed from the units themselves.
  [[nodiscard]] UnitBalance balance() const;
  [[nodiscard]] std::optional<UnitIdlePower> idle() const noexcept;
  [[nodiscard]] bool has_idle_changed() const noexcept;

  /// The parts of the ± of the sum of all units, beside the ± of a mean in time.
  struct ShareDoubt {
    double measured_j2 = 0.0;  ///< square of the ± of what was measured where units start or stop
    double idle_j = 0.0;       ///< ± of the idle energy that was taken off
    double spilled_j = 0.0;    ///< may be the units': it was measured when no unit ran any more
    double joules = 0.0;       ///< sum of all shares
    double mean_interval_s = 0.0;
    double mean_running = 0.0;  ///< units that ran at a time, while any did
  };
  [[nodiscard]] ShareDoubt doubt() const noexcept;

 private:
  struct SharedInterval {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::optional<double> joules{};
    double unknown_s = 0.0;
    double uncertainty_j = 0.0;
    double common_j = 0.0;  ///< the part of that which comes back
    Flags flags{};
    double rate = 0.0;     ///< J per weight and second while a unit runs
    double unknown = 0.0;  ///< seconds per second while a unit runs
    double edge_j2 = 0.0;  ///< square of the ± of an end in it, per square of weight
    double whole_j = 0.0;  ///< per weight, if it ran all the time
  };
  /// Integrals of an interval.
  struct WeightTimes {
    double weight_s = 0.0;
    double covered_s = 0.0;  ///< while a unit ran
  };
  /// A unit's or a phase's start.
  struct ShareStart {
    double sum = 0.0;        ///< S; of a thread its curve
    double whole_sum = 0.0;  ///< S
    std::int32_t thread = 0;
    double unknown = 0.0;
    double edge_j2 = 0.0;
    std::int64_t weight = 0;
    std::uint64_t interval = 0;
    double unit_unknown = 0.0;  ///< when the unit started, before all of its phases
    std::uint64_t unit_interval = 0;
    bool is_in = false;
  };

  bool take_interval(const UnitEventLog& log, std::int64_t until_ns);
  void share_out(SharedInterval& interval, const WeightTimes& times);
  [[nodiscard]] WeightTimes measure_weights(const UnitEventLog& log);
  void watch_idle(const SharedInterval& interval);
  void enter(const UnitEvent& event, std::int64_t at_ns);
  UnitShare leave(const UnitEvent& event, std::int64_t at_ns);
  void advance(std::int64_t at_ns) noexcept;
  /// Adds `units` to those that run. Returns the curve of the event's thread; null: it has none.
  const ThreadCurve* change(const UnitEvent& event, std::int64_t at_ns, std::int64_t units);
  void finish_interval() noexcept;

  /// Calls `visit` for the events of the interval that this domain takes part in.
  template <class Visit>
  void visit_events(const UnitEventLog& log, Visit visit) {
    std::size_t i = next_ - log.first;
    for (; i < log.events.size() && log.events[i].at_ns < interval_.end_ns; ++i) {
      const UnitEvent& event = log.events[i];
      // A sensor that is found to be later moves an end to before what was divided already.
      if (takes_part(event)) visit(event, std::max(event.at_ns, interval_.begin_ns));
    }
    next_ = log.first + i;
  }

  DividedDomain domain_;
  IdleShare idle_share_;
  std::int64_t lag_ns_ = 0;
  std::deque<UnitReading> readings_;
  std::optional<TimePoint> last_reading_;
  UnitReading carried_{};  ///< readings that a longer lag moved to before `end_ns_`
  bool has_carried_ = false;

  std::int64_t end_ns_ = 0;
  std::uint64_t next_ = 0;
  std::vector<ShareStart> starts_;    ///< by slot
  std::vector<ThreadCurve> threads_;  ///< by the small number of a thread
  SharedInterval interval_{};
  std::uint64_t interval_number_ = 0;

  // As of the event that is visited.
  std::int64_t now_ns_ = 0;
  std::int64_t weight_ = 0;   ///< in steps
  std::int64_t running_ = 0;  ///< units
  double sum_ = 0.0;          ///< S
  double unknown_ = 0.0;

  // Over all intervals.
  UnitBalance balance_{};
  UncertaintySum measured_error_{};
  IdleWatch idle_watch_{};
  std::int64_t last_unit_ns_ = 0;  ///< 0: none yet
  bool had_units_ = false;         ///< the last interval
  double last_rate_ = 0.0;
  double covered_s_ = 0.0;
  double running_s_ = 0.0;
  double lengths_s_ = 0.0;
  std::uint64_t intervals_ = 0;
  ShareDoubt doubt_{};
};

}  // namespace wattle::detail
