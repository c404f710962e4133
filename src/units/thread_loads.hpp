// The CPU time of threads on which units run, as weights: a thread that computes all the time has
// the weight 1 in the domains that are divided by CPU time, and its units divide that.
//
// The CPU time of a thread is known where one of its units starts, changes its phase or ends, and
// when sensors are read. It is spread evenly between two of these times. So the load of a thread
// from an event on is known at the next event of that thread: `UnitEvent::step` is filled in then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "units/thread_clock.hpp"
#include "units/unit_events.hpp"

namespace wattle::detail {

/// The part of a sum that a unit of weight on a thread has. The sum grows: time, or joules per
/// weight.
struct ThreadCurve {
  std::int64_t weight = 0;  ///< of the units that run on it, in steps
  std::int64_t load = 0;    ///< of the thread, in steps
  double per_weight = 0.0;  ///< as of `seen`
  double seen = 0.0;

  void advance(double total) noexcept {
    per_weight += (total - seen) * part();
    seen = total;
  }
  /// The part of the load that a unit of the weight 1 has.
  [[nodiscard]] double part() const noexcept {
    return weight > 0 ? static_cast<double>(load) / static_cast<double>(weight) : 0.0;
  }
  void apply(const UnitEvent& event) noexcept {
    weight += event.weight_change();
    load += event.step;
  }
};

/// Finds the steps of events. Threads: one at a time.
class ThreadSteps {
 public:
  /// `clock` outlives it; null: there are no units with a thread.
  explicit ThreadSteps(const ThreadClock* clock) noexcept : clock_(clock) {}

  /// An event that was appended to the log. Its thread becomes a small number that another thread
  /// may have later, once no unit runs on this one.
  void note(UnitEventLog& log, std::size_t place);
  /// Appends the CPU time of each thread on which units run: a `sample` at `at_ns`.
  void sample(UnitEventLog& log, std::int64_t at_ns);

 private:
  struct LoadedThread {
    std::int32_t number = 0;  ///< small, from 1
    std::int64_t running = 0;
    std::int64_t at_ns = 0;  ///< `used_ns` is of then
    std::int64_t used_ns = 0;
    std::int64_t load = 0;   ///< before the event `last`
    std::uint64_t last = 0;  ///< the number of its last event
  };
  static void pass(LoadedThread& thread, UnitEventLog& log, const UnitEvent& event);

  const ThreadClock* clock_;
  std::unordered_map<std::int32_t, LoadedThread> threads_;  ///< by their numbers in the kernel
  std::vector<std::int32_t> free_;
  std::int32_t numbers_ = 0;
};

/// The loads of tags, from events whose steps are known. Threads: one at a time.
class ThreadLoads {
 public:
  struct LoadChange {
    std::uint16_t column = 0;
    std::int64_t weight = 0;  ///< in steps
  };
  /// The next event of a thread, in the order of time: how the loads change with it. Valid until
  /// the next call.
  std::span<const LoadChange> pass(const UnitEvent& event);
  /// Seconds of CPU time per unit of weight on a thread, up to the last event that was passed.
  [[nodiscard]] double per_weight_s(std::int32_t thread) const {
    return threads_[static_cast<std::size_t>(thread)].curve.per_weight;
  }

 private:
  struct ColumnLoad {
    std::uint16_t column = 0;
    std::int64_t weight = 0;
    std::int64_t load = 0;
  };
  struct TaggedThread {
    ThreadCurve curve{};
    std::vector<ColumnLoad> columns{};
  };

  std::vector<TaggedThread> threads_;  ///< by small number
  std::vector<LoadChange> changes_;
};

}  // namespace wattle::detail
