// The starts and ends of units, as they come from any thread. The only part of units of work that
// the measured program waits for: everything else happens in the thread that reads the sensors.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "units/thread_clock.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

/// Weights are whole numbers of this: their sums are exact, and 0 once every unit has ended.
inline constexpr double kWeightStep = 0x1p-20;
inline constexpr double kLeastWeight = 1e-6;
inline constexpr double kMostWeight = 1e6;
/// The most work of a unit that others start.
inline constexpr double kMostUnitWork = 1e18;

/// Absent for a weight out of range, or not a number.
[[nodiscard]] inline std::optional<std::int64_t> weight_steps(double weight) noexcept {
  if (std::isnan(weight) || weight < kLeastWeight || weight > kMostWeight) return std::nullopt;
  return std::max<std::int64_t>(1, std::llround(weight / kWeightStep));
}

/// A unit starts to have a weight, or no longer has it.
struct UnitEvent {
  enum class EventKind : std::uint8_t {
    begin,   ///< of the unit
    enter,   ///< a phase
    leave,   ///< what it was in before that phase
    end,     ///< of the unit
    sample,  ///< of no unit: the CPU time of a thread
  };
  [[nodiscard]] bool adds_weight() const noexcept { return kind <= EventKind::enter; }
  [[nodiscard]] bool removes_weight() const noexcept {
    return kind == EventKind::leave || kind == EventKind::end;
  }
  [[nodiscard]] std::int64_t weight_change() const noexcept {
    if (adds_weight()) return weight;
    return removes_weight() ? -weight : 0;
  }

  std::int64_t at_ns = 0;   ///< of the steady clock
  std::int64_t weight = 0;  ///< in steps
  double work = 0.0;        ///< of an end
  /// CPU time of `thread`; -1: not known.
  std::int64_t used_ns = -1;
  std::uint32_t slot = 0;
  /// The thread whose CPU time gives the unit its share of CPUs; 0: its weight does.
  std::int32_t thread = 0;
  /// By how much the load of `thread` changes here, in steps of weight. `ThreadSteps` finds it.
  std::int32_t step = 0;
  std::uint16_t column = 0;  ///< of the tag or phase that it enters or leaves
  std::uint8_t gpu = 0;      ///< 0: all; else the number of the one GPU, from 1
  EventKind kind = EventKind::begin;
};
static_assert(sizeof(UnitEvent) == 48);

/// The events of all units that any domain still needs, in order.
struct UnitEventLog {
  std::vector<UnitEvent> events;
  std::uint64_t first = 0;  ///< the number of events[0]
};

/// The place of a running unit in tables; it is used again after the unit.
[[nodiscard]] constexpr std::uint32_t slot_of(UnitId id) noexcept {
  return static_cast<std::uint32_t>(id);
}

/// In a child of the process that made it nothing happens: its locks may be taken there for ever.
/// Threads: any, except where a function says otherwise.
class UnitEvents {
 public:
  /// `clock` outlives it.
  explicit UnitEvents(const TimeSource& clock);

  struct Started {
    UnitId id = 0;
    std::int64_t at_ns = 0;
  };
  /// Absent if there is no memory, or in a child.
  std::optional<Started> begin(std::uint16_t column, std::int64_t weight, std::uint8_t gpu,
                               const ThreadTime& thread = {}) noexcept;
  /// Adds events of a unit whose last event was at `last_ns`. Stamps them with the present time,
  /// but later than that; returns it. `leaves` is an end or a leave.
  std::int64_t leave(UnitEvent leaves, std::int64_t last_ns,
                     const UnitEvent* enters = nullptr) noexcept;

  /// Ends of units that had ended, of the whole process: such a unit may have outlived all else.
  static void count_second_end() noexcept;
  [[nodiscard]] static std::uint64_t ended_twice() noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
  [[nodiscard]] bool is_copy() const noexcept { return forks_ != forks(); }
  /// Units that have not ended.
  [[nodiscard]] std::uint64_t running() const noexcept;

  /// Appends all events from before the time that it returns, in the order of their times. Threads:
  /// one at a time.
  TimePoint drain(std::vector<UnitEvent>& into);
  /// The slots of these units are free. Threads: one at a time.
  void release(std::span<const UnitId> units);

 private:
  static constexpr std::size_t kShards = 64;
  static constexpr std::uint32_t kSlotsAtOnce = 256;

  /// The threads write to shards: mostly each to one of its own.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::vector<UnitEvent> events;
    std::vector<UnitId> free;  ///< ids for the next units
    std::int64_t last_ns = 0;
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
  };
  [[nodiscard]] Shard& shard() noexcept;
  /// Not before the last event of the shard: its events are in order.
  [[nodiscard]] std::int64_t now_in(Shard& shard, std::int64_t after) const noexcept;
  void refill(Shard& shard);

  // State of `drain`: the events taken from each shard that are too new, and the first of them.
  struct Taken {
    std::vector<UnitEvent> events;
    std::size_t first = 0;
  };

  std::array<Shard, kShards> shards_;
  const TimeSource& clock_;
  std::uint64_t forks_;  ///< when it was made
  std::atomic<std::uint64_t> refused_ = 0;
  std::vector<UnitId> free_;
  std::mutex free_mutex_;
  std::array<Taken, kShards> taken_;
  std::uint32_t next_slot_ = 1;  ///< no unit has the id 0
};

}  // namespace wattle::detail
