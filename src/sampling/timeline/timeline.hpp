// The history of one channel: append-only, compressed, bounded.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/numbers/exact_divider.hpp"
#include "base/numbers/uint128.hpp"
#include "sampling/timeline/timeline_store.hpp"
#include "wattle/clock.hpp"
#include "wattle/export.hpp"

namespace wattle {

struct TimelineOptions {
  TimelineKind kind = TimelineKind::counter;
  /// Times are kept as whole multiples of this.
  std::chrono::nanoseconds quantum = std::chrono::microseconds(1);
  /// The period of the lane that reads the channel: readings that keep to it take least memory.
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  /// Gauges: how long a value is valid after it was last confirmed: one update interval of the
  /// sensor, or one period of the lane where that is longer. Rounded up to whole quanta.
  std::chrono::nanoseconds hold{0};
  /// Most that the timeline takes, in bytes; past it the oldest readings are dropped. Allocated at
  /// once, but given by the system as it fills. At least `kMinTimelineBytes`.
  std::size_t memory_limit = std::size_t{16} << 20U;
};

/// A stored reading. Counters: `last_confirmed` equals `first_seen`.
struct StoredReading {
  TimePoint first_seen;
  TimePoint last_confirmed;
  std::uint64_t raw = 0;
  friend bool operator==(const StoredReading&, const StoredReading&) = default;
};

/// The two readings around an instant.
struct Bracket {
  std::optional<StoredReading> before;  ///< the last one at or before it
  std::optional<StoredReading> after;   ///< the first one after it
  friend bool operator==(const Bracket&, const Bracket&) = default;
};

/// A window of a gauge.
struct GaugeWindow {
  /// Sum of raw value x nanoseconds over the known time; exact.
  Uint128 raw_ns = 0;
  /// The time in the window at which a value held; the rest is gap.
  std::chrono::nanoseconds known{0};
  /// Another window that does not overlap it.
  GaugeWindow& operator+=(const GaugeWindow& other) noexcept {
    raw_ns += other.raw_ns;
    known += other.known;
    return *this;
  }
  /// The mean raw value over the known time, which is not empty.
  [[nodiscard]] double mean_raw() const noexcept {
    return static_cast<double>(raw_ns) / static_cast<double>(known.count());
  }
  friend bool operator==(const GaugeWindow&, const GaugeWindow&) = default;
};

/// Readings of one channel in the order of their times, 1 to 3 bytes each.
///
/// Raw values are kept exactly, whatever they are. Times are rounded down to the quantum, and so
/// are the times that are asked for, except in `gauge_window`: who asks for the time of a reading
/// gets that reading, and windows are not shifted against the readings.
///
/// A gauge's value that is read again is stored once, with the times it was first seen and last
/// confirmed. It holds until the next value, but at most until `hold` after it was last confirmed;
/// then comes a gap, and the next reading is stored again even if it has the same value.
///
/// Threads: `append` from one at a time; everything else from any, at any time. No side waits for
/// the other. A query sees all readings appended before it started, but those dropped.
class Timeline {
 public:
  /// Throws `InvalidArgument` for options out of their range. This is the only allocation.
  explicit Timeline(const TimelineOptions& options);

  /// Adds a reading. Counters: `raw` is unwrapped. Times should not decrease: a reading with an
  /// earlier time than the previous one's is taken as read at that time; one before the clock's
  /// epoch, as read at the epoch.
  void append(TimePoint at, std::uint64_t raw) noexcept;

  /// The readings around `time`. Before the oldest reading held, `before` is absent.
  [[nodiscard]] Bracket at(TimePoint time) const noexcept;

  /// Counters: ticks from `begin` to `end`, which is not earlier, linear between readings. Absent
  /// where an end is not known: no reading at or before it, or none after it and none just at it.
  [[nodiscard]] std::optional<double> ticks_between(TimePoint begin, TimePoint end) const noexcept;

  /// Gauges: the integral from `begin` to `end`, which is not earlier, clipped to the nanosecond.
  /// The value held at `begin` counts from there. The cost does not depend on the length.
  [[nodiscard]] GaugeWindow gauge_window(TimePoint begin, TimePoint end) const noexcept;

  /// Calls `visit(const StoredReading&)` for each reading first seen from `begin` to `end`, both
  /// included, in order. Readings that are dropped during the call are left out.
  template <class Visit>
  void for_each(TimePoint begin, TimePoint end, Visit visit) const;

  /// Gauges: the same, and before them the last reading before `begin`, if there is one; calls
  /// `visit(const StoredReading&, Uint128 changes)`. The difference of two `changes` is the sum of
  /// the squares of all changes from one reading to the next in between, exact however long that
  /// is.
  template <class Visit>
  void for_each_change(TimePoint begin, TimePoint end, Visit visit) const;

  /// Readings held.
  [[nodiscard]] std::uint64_t size() const noexcept;
  /// Readings that were dropped to stay within the limit.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return store_.dropped(); }
  /// Bytes in use; never above the limit.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return store_.memory_bytes(); }
  /// When the oldest reading held was first seen; absent where there is none.
  [[nodiscard]] WATTLE_EXPORT std::optional<TimePoint> oldest() const noexcept;
  /// When the first of the newest `count` readings was first seen; absent where no more than these
  /// are held.
  [[nodiscard]] std::optional<TimePoint> since_newest(std::uint64_t count) const noexcept;
  /// When the newest reading was last confirmed; absent where there is none.
  [[nodiscard]] WATTLE_EXPORT std::optional<TimePoint> newest() const noexcept;

 private:
  [[nodiscard]] std::uint64_t quanta_of(TimePoint time) const noexcept;
  [[nodiscard]] TimePoint time_of(std::uint64_t quanta) const noexcept;
  [[nodiscard]] StoredReading reading(const TimelineChunk& chunk, std::size_t i) const noexcept;

  struct FoundChunk {
    const TimelineChunk* chunk;  ///< until this thread loads another one
    std::uint64_t number;
    bool newest;
  };
  /// Loads the last chunk that starts at or before `quanta`, or the oldest one if none does.
  /// Absent where there is no reading yet. `room`: for one that is not full yet.
  [[nodiscard]] std::optional<FoundChunk> load_at(std::uint64_t quanta,
                                                  TimelineChunk& room) const noexcept;
  /// Calls `look(const TimelineChunk&)` for each chunk from that on which holds the last reading
  /// before `first`, until one has seen enough: false.
  template <class Look>
  void each_chunk(std::uint64_t first, Look look) const;
  /// The integral from the first reading ever to `time`, which lies in `chunk`.
  [[nodiscard]] GaugeWindow integral_until(TimePoint time,
                                           const TimelineChunk& chunk) const noexcept;

  TimelineKind kind_;
  ExactDivider quantum_;
  std::uint64_t hold_;  ///< in quanta
  TimelineStore store_;

  // The writer's own: the last reading stored, and what those before it add up to.
  std::uint64_t first_seen_ = 0;
  std::uint64_t last_confirmed_ = 0;
  std::uint64_t raw_ = 0;
  GaugeSum before_;
};

template <class Look>
void Timeline::each_chunk(std::uint64_t first, Look look) const {
  const auto held = store_.held();
  if (!held) return;
  // Readings of one quantum can fill several chunks: start where there are earlier ones.
  const auto start = first > 0 ? store_.find(*held, first - 1) : std::nullopt;
  TimelineChunk room;
  for (std::uint64_t number = start.value_or(held->oldest); number <= held->newest; ++number) {
    const TimelineChunk* const chunk = store_.load(number, room);
    if (chunk == nullptr) continue;
    // `look` may load other chunks.
    if (chunk != &room) room = *chunk;
    if (!look(room)) return;
  }
}

template <class Visit>
void Timeline::for_each(TimePoint begin, TimePoint end, Visit visit) const {
  const std::uint64_t first = quanta_of(begin);
  const std::uint64_t last = quanta_of(end);
  each_chunk(first, [&](const TimelineChunk& chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      if (chunk.first_seen[i] > last) return false;
      if (chunk.first_seen[i] >= first) visit(reading(chunk, i));
    }
    return true;
  });
}

template <class Visit>
void Timeline::for_each_change(TimePoint begin, TimePoint end, Visit visit) const {
  const std::uint64_t first = quanta_of(begin);
  const std::uint64_t last = quanta_of(end);
  // The last reading before `begin` comes with the first one after it.
  bool has_before = false;
  StoredReading before;
  Uint128 changes_before = 0;
  const auto visit_before = [&] {
    if (has_before) visit(before, changes_before);
    has_before = false;
  };
  each_chunk(first, [&](const TimelineChunk& chunk) {
    Uint128 changes = chunk.before.squared_changes;
    const auto add_change = [&](std::size_t i) {
      if (i > 0) changes += squared_difference(chunk.raw[i], chunk.raw[i - 1]);
    };
    std::size_t i = 0;
    for (; i < chunk.count && chunk.first_seen[i] < first; ++i) add_change(i);
    if (i > 0) {
      has_before = true;
      before = reading(chunk, i - 1);
      changes_before = changes;
    }
    for (; i < chunk.count; ++i) {
      if (chunk.first_seen[i] > last) return false;
      add_change(i);
      visit_before();
      visit(reading(chunk, i), changes);
    }
    return true;
  });
  visit_before();
}

}  // namespace wattle
