// The power of a domain, kept in slots of a second as it is read: long windows are answered from
// these alone, not from the readings.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "devices/power_columns.hpp"
#include "devices/power_pyramid.hpp"
#include "sampling/history.hpp"

namespace wattle::daemon {

/// Where a domain's power is read: a counter (may be null), gauges, or both.
struct PowerSource {
  const History* counter = nullptr;
  std::span<const History* const> gauges{};
};

/// When slots start and end.
struct SlotGrid {
  static constexpr std::chrono::nanoseconds kSlot = std::chrono::seconds(1);
  TimePoint origin;  ///< a slot starts here

  /// The number of the slot that `time` is in, from `origin` on. Unix times are not exact: a
  /// millisecond before its start counts as in it.
  [[nodiscard]] std::int64_t slot_at(TimePoint time) const noexcept;
  [[nodiscard]] TimePoint start(std::int64_t slot) const noexcept { return origin + slot * kSlot; }
  /// True if each of these columns is a whole number of slots.
  [[nodiscard]] bool holds(const TimeColumns& columns) const noexcept;
};

/// Threads: one at a time; the histories may be written by others.
class PowerSlots {
 public:
  /// From the slot that `now` is in. Keeps at least `kept` slots. The source outlives it.
  PowerSlots(const PowerSource& source, const SlotGrid& grid, TimePoint now, std::size_t kept);

  /// Adds the slots that have been read in full since the last call.
  void take();
  /// The number of slots that are done, from the origin of the grid.
  [[nodiscard]] std::int64_t end() const noexcept {
    return first_ + static_cast<std::int64_t>(pyramid_.size());
  }

  /// The power in columns that the grid holds. The extremes are those of the values of a gauge, and
  /// of the means of a counter from one reading to the next. A column known for less than half of
  /// its time is unknown; the uncertainty is known if all of the column is, and there are no
  /// gauges.
  [[nodiscard]] std::vector<ColumnPower> columns(const TimeColumns& columns) const;

 private:
  [[nodiscard]] bool is_read_until(TimePoint end) const noexcept;
  [[nodiscard]] PowerSummary slot(TimePoint begin, TimePoint end) const;
  [[nodiscard]] PowerSummary sum(std::int64_t first, std::int64_t last) const;
  [[nodiscard]] CounterEdge edge(std::int64_t slot) const;

  PowerSource source_;
  SlotGrid grid_;
  std::int64_t first_;  ///< the number of the first slot in the pyramid
  PowerPyramid pyramid_;
};

}  // namespace wattle::daemon
