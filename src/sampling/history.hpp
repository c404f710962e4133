// What is known of one channel over time: its values, and the stretches and events that say how far
// they can be trusted.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "sampling/counter.hpp"
#include "sampling/timeline.hpp"
#include "sensors/sensor.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"

namespace wattle {

struct HistoryOptions {
  /// How often the channel is read.
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  /// The longest that its reader may make of that (see Backoff).
  std::chrono::nanoseconds longest_period = period;
  /// Gauges of which changes alone are told: how long nothing may be heard of a value that counts.
  /// 0: every look is told.
  std::chrono::nanoseconds longest_pause{0};
  /// Most that the values take, in bytes. Allocated at once, given by the system as they come.
  std::size_t memory_limit = std::size_t{16} << 20U;
};

/// What a history takes beside its values, at most: for what happened to them.
inline constexpr std::size_t kHistoryEventBytes = (std::size_t{64} << 10U) + kMinTimelineBytes;

/// Times of a counter's values are rounded down to whole multiples of this, and those of a gauge's.
inline constexpr std::chrono::nanoseconds kCounterQuantum = std::chrono::microseconds(1);
inline constexpr std::chrono::nanoseconds kGaugeQuantum = std::chrono::microseconds(100);

/// How often a gauge is renewed at least, where nobody knows: most boards do it each 100 ms, none
/// is known that does it less often. What is read more often than that is the same value again.
inline constexpr std::chrono::nanoseconds kAssumedUpdate = std::chrono::milliseconds(100);

/// One end of a window, as a counter shows it.
struct Boundary {
  TimePoint at;                            ///< when the counter had that value
  std::chrono::nanoseconds half_width{0};  ///< it was read within at +- half_width
  std::uint64_t ticks = 0;                 ///< unwrapped
  /// Part of a tick more, and how far its neighbours lie apart: looked up between two readings.
  double fraction = 0.0;
  std::chrono::nanoseconds bracket{0};
};

/// What happened in a window.
struct Condition {
  Flags flags;
  std::chrono::nanoseconds unknown{0};
  /// The part of `unknown` whose events were dropped to save memory: they could have said anything.
  std::chrono::nanoseconds forgotten{0};
};

/// Takes the readings of one channel. A counter is unwrapped here; a gauge's value holds until it
/// is due to be read again and one update interval more, or as long as nothing may be heard of it,
/// and is unknown from then on.
///
/// Threads: `add`, `note_suspend`, `set_period`, `last` one at a time (the reader's); everything
/// else any, at any time. Nobody waits for anybody, and nothing but the constructor allocates.
class WATTLE_EXPORT History {
 public:
  /// Throws `InvalidArgument` for options that no timeline takes.
  History(const Channel& channel, const HistoryOptions& options);

  void add(const Reading& reading) noexcept;
  /// The machine was suspended since the last reading: what happened meanwhile is unknown.
  void note_suspend() noexcept;
  /// From now on the channel is read every `period`, at most `longest_period`.
  void set_period(std::chrono::nanoseconds period) noexcept;

  [[nodiscard]] const Channel& channel() const noexcept { return channel_; }
  [[nodiscard]] bool is_counter() const noexcept { return channel_.metric == Metric::energy; }
  /// Raw integers; those of a counter are unwrapped.
  [[nodiscard]] const Timeline& values() const noexcept { return values_; }

  /// Counters: the last value that was read, to the nanosecond; absent where there is none.
  [[nodiscard]] std::optional<Boundary> last() const noexcept { return last_; }
  /// True if the last `add` brought a value.
  [[nodiscard]] bool is_fresh() const noexcept { return fresh_; }
  /// Counters: the value at `time`, linear between the readings around it. Absent before the first
  /// and behind the last reading; a time within the same microsecond is that of the reading.
  [[nodiscard]] std::optional<Boundary> at(TimePoint time) const noexcept;

  /// The time from one independent look at the channel to the next: that of its reader, or of its
  /// sensor where that is longer.
  [[nodiscard]] std::chrono::nanoseconds spacing() const noexcept {
    return std::max(period(), update());
  }
  /// How often the channel is read now.
  [[nodiscard]] std::chrono::nanoseconds period() const noexcept {
    return period_.load(std::memory_order_relaxed);
  }
  /// How often the sensor renews the value; where nobody knows, `kAssumedUpdate` for a gauge, and 0
  /// for a counter.
  [[nodiscard]] std::chrono::nanoseconds update() const noexcept;
  /// Gauges: the longest that a value counts after it was last confirmed.
  [[nodiscard]] std::chrono::nanoseconds hold() const noexcept { return hold_; }
  /// Gauges: how long it counts as often as the channel is read now.
  [[nodiscard]] std::chrono::nanoseconds valid_for() const noexcept;
  /// Gauges: the longest that a value goes on to be told after the power changed.
  [[nodiscard]] std::chrono::nanoseconds longest_age() const noexcept;
  /// Gauges: the reading whose value is to be believed at `time`; absent where there is none.
  [[nodiscard]] std::optional<StoredReading> held(TimePoint time) const noexcept;
  /// Gauges: the integral over the stretches in which there was a value to be believed.
  [[nodiscard]] GaugeWindow gauge_window(TimePoint begin, TimePoint end) const noexcept;

  /// Bytes in use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return values_.memory_bytes() + states_.memory_bytes() + losses_.memory_bytes();
  }

  /// What happened from `begin` to `end`. Before the first reading and behind a counter's last it
  /// says nothing.
  [[nodiscard]] Condition condition(TimePoint begin, TimePoint end) const;
  /// Calls `visit(begin, end)` for each stretch of `condition(begin, end).unknown`, in order.
  template <class Visit>
  void each_unknown(TimePoint begin, TimePoint end, Visit visit) const;
  /// The same for the components, which do not have what the template uses.
  void visit_unknown(TimePoint begin, TimePoint end,
                     const std::function<void(TimePoint, TimePoint)>& visit) const;

 private:
  void add_counter(const Reading& reading) noexcept;
  void add_gauge(const Reading& reading) noexcept;
  void note_loss(const Reading& reading) noexcept;
  /// Gauges: from when on the newest value is overdue to be read again.
  [[nodiscard]] std::optional<TimePoint> overdue() const noexcept;
  /// What is known changes at `at`: from then on it is unknown, or not; `flags` say why.
  void note(TimePoint at, bool unknown, Flags flags) noexcept;
  [[nodiscard]] bool was_lost(TimePoint begin, TimePoint end) const;

  Channel channel_;
  CounterUnwrap unwrap_;
  std::atomic<std::chrono::nanoseconds> period_;
  std::chrono::nanoseconds longest_pause_;
  std::chrono::nanoseconds hold_;  ///< the longest that `valid_for` can be
  Timeline values_;
  Timeline states_;  ///< raw: see `note`
  /// 1 from where the device was found gone, 0 from where it was back. Apart from the states: that
  /// a stretch is unknown shows at its end only, and a loss in it would be noted before its begin.
  Timeline losses_;

  // The reader's own.
  std::optional<Boundary> last_;
  std::uint64_t ticks_ = 0;
  bool fresh_ = false;
  bool suspended_ = false;
  bool unknown_ = false;
  bool lost_ = false;
};

namespace history_state {
/// The states' raw integers: this bit, and flags.
inline constexpr std::uint64_t kUnknown = std::uint64_t{1} << 32U;

[[nodiscard]] inline bool is_unknown(const StoredReading& state) noexcept {
  return (state.raw & kUnknown) != 0;
}
}  // namespace history_state

template <class Visit>
void History::each_unknown(TimePoint begin, TimePoint end, Visit visit) const {
  using history_state::is_unknown;
  const auto before = states_.at(begin).before;
  bool unknown = before && is_unknown(*before);
  TimePoint since = begin;
  states_.for_each(begin, end, [&](const StoredReading& state) {
    if (unknown && !is_unknown(state) && state.first_seen > since) visit(since, state.first_seen);
    if (!unknown) since = std::max(begin, state.first_seen);
    unknown = is_unknown(state);
  });
  // Nobody has noted yet that a reading is overdue while its reader waits for the device.
  const TimePoint from = unknown ? since : std::max(begin, overdue().value_or(end));
  if (end > from) visit(from, end);
}

}  // namespace wattle
