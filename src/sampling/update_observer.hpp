// Finding out how a sensor behaves, by reading it faster than it is renewed: how often that is and
// how regularly, by how much its value changes, what a reading costs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/numbers/reservoir.hpp"
#include "sampling/counters/counter.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// Why it is not known how often a value is renewed.
enum class PeriodDoubt : std::uint8_t {
  none,         ///< it is known
  no_reading,   ///< nothing could be read
  no_change,    ///< the value stayed the same
  few_changes,  ///< too few for a figure
  /// The value was read so rarely that it may have been renewed unseen: there is an upper bound.
  slow_polls,
  /// Most renewals do not show, because the value is the same again, or because the counter's tick
  /// is too coarse: there is an upper bound.
  hidden,
};

/// The doubt as part of a sentence about a value: "it did not change". Empty for `none`.
[[nodiscard]] std::string_view to_string(PeriodDoubt doubt) noexcept;

/// The properties of a channel, found by frequent readings.
struct Observation {
  std::chrono::nanoseconds length{0};  ///< from the first reading to the last
  std::uint64_t readings = 0;
  std::uint64_t failed = 0;   ///< readings without a value
  std::uint64_t changes = 0;  ///< of the value

  /// Known where `doubt` is none.
  UpdateInterval interval{};
  PeriodDoubt doubt = PeriodDoubt::no_reading;
  /// An upper bound of the period, if the period itself is not known.
  std::optional<std::chrono::nanoseconds> at_most{};
  /// From one change of the value to the next, median, of whatever the doubt leaves of it; absent
  /// where it changed less than twice.
  std::optional<std::chrono::nanoseconds> median{};
  /// From one reading to the next, median: the resolution of all intervals.
  std::chrono::nanoseconds poll{0};

  /// By how many raw integers the value changes, up or down; 0 without a change.
  std::uint64_t least_step = 0;
  std::uint64_t median_step = 0;

  std::chrono::nanoseconds call{0};  ///< what a reading takes, median
  std::chrono::nanoseconds longest_call{0};

  /// True if a counter never fell, except for wraps. Absent for a gauge, and without two readings.
  std::optional<bool> monotonic{};
};

/// Watches one channel. An *interval* lies between two changes of the value, each of which
/// happened between two readings.
///
/// - An interval counts if no two readings in it, or at its ends, are further apart than half of
///   the median interval: one during which the machine was busy with something else may hide a
///   change. Where less than a quarter counts, reading is too slow, and the mean of all intervals,
///   or their median where that is more, is an upper bound of the period: no value changes more
///   often than it is renewed.
/// - A gauge that is renewed with the same value shows no change, and the interval is twice as
///   long or more. So for a gauge only intervals up to 1.5 times the shortest common one (the 10th
///   percentile) count; the longer ones are taken for multiples. Where these are the majority, the
///   shortest may well be multiples too, and their mean, and a reading more, is an upper bound.
/// - A counter shows each renewal, as long as more than a tick passes in between; where the median
///   step is a single tick, the mean interval is an upper bound.
///
/// Mean, spread and 99th percentile are those of what counts. The spread includes what the distance
/// of two readings adds to it.
///
/// Memory is bounded: of very many intervals a fair sample is kept. Allocates at construction, and
/// where an observation is made. Threads: one at a time.
class UpdateObserver {
 public:
  explicit UpdateObserver(const Channel& channel);

  /// Takes the channel's next reading. Times must not decrease.
  void add(const Reading& reading) noexcept;
  [[nodiscard]] Observation observation() const;

 private:
  struct ObservedInterval {
    std::chrono::nanoseconds length{0};
    /// The widest that two readings were apart, from just before it to just after it.
    std::chrono::nanoseconds widest{0};
  };

  void note_change(const Reading& reading) noexcept;
  /// Absent where the counter fell: what is before and after has nothing to do with each other.
  [[nodiscard]] std::optional<std::uint64_t> step_to(const Reading& reading) noexcept;
  void judge_period(Observation& seen) const;
  /// The lengths of the intervals that count, sorted.
  [[nodiscard]] std::vector<std::chrono::nanoseconds> counting(
      std::chrono::nanoseconds typical) const;

  std::optional<CounterUnwrap> counter_;  ///< absent for a gauge
  std::uint64_t readings_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t changes_ = 0;
  bool fell_ = false;
  TimePoint first_at_;
  Reading last_;
  std::optional<TimePoint> changed_at_;
  /// As in `ObservedInterval`, of the one that has not ended.
  std::chrono::nanoseconds widest_{0};
  std::chrono::nanoseconds longest_call_{0};
  Reservoir<ObservedInterval> intervals_;
  Reservoir<std::uint64_t> steps_;
  Reservoir<std::chrono::nanoseconds> polls_;
  Reservoir<std::chrono::nanoseconds> calls_;
};

/// How long a sensor is read, and how long it is left alone after each reading.
struct Polling {
  std::chrono::nanoseconds length{0};
  std::chrono::nanoseconds pause{0};
};

/// Reads the `wanted` channels again and again: what came of each, and an `Observation` of nothing
/// for the others. `goes_on` is asked before each reading; the first false is the end.
[[nodiscard]] std::vector<Observation> observe(
    Sensor& sensor, ChannelSet wanted, Polling polling, const TimeSource& clock,
    const std::function<bool()>& goes_on = [] { return true; });

}  // namespace wattle
