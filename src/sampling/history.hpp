// The record of one channel over time: its values, the intervals in which they are unknown, and
// events such as wraps and resets.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "sampling/counters/counter.hpp"
#include "sampling/timeline/timeline.hpp"
#include "sensors/sensor.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"

namespace wattle {

struct HistoryOptions {
  /// How often the channel is read.
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  /// The longest period that its reader may change to (see Backoff).
  std::chrono::nanoseconds longest_period = period;
  /// Gauges that report changes alone: the longest pause after which the last value still counts.
  /// 0: every sample is reported.
  std::chrono::nanoseconds longest_pause{0};
  /// Most that the values take, in bytes. Allocated at once, given by the system as they come.
  std::size_t memory_limit = std::size_t{16} << 20U;
};

/// The most memory that a history takes for events, beside its values.
inline constexpr std::size_t kHistoryEventBytes = (std::size_t{64} << 10U) + kMinTimelineBytes;

/// Times of a counter's values are rounded down to whole multiples of this, and those of a gauge's.
inline constexpr std::chrono::nanoseconds kCounterQuantum = std::chrono::microseconds(1);
inline constexpr std::chrono::nanoseconds kGaugeQuantum = std::chrono::microseconds(100);

/// The update interval of a gauge whose interval is unknown. Most boards renew it every 100 ms, and
/// no board is known that does it less often.
inline constexpr std::chrono::nanoseconds kAssumedUpdate = std::chrono::milliseconds(100);

/// One end of a window, as a counter shows it.
struct Boundary {
  TimePoint at;                            ///< when the counter had that value
  std::chrono::nanoseconds half_width{0};  ///< it was read within at +- half_width
  std::uint64_t ticks = 0;                 ///< unwrapped
  /// If it lies between two readings: a part of a tick more, and the time between the readings.
  double fraction = 0.0;
  std::chrono::nanoseconds bracket{0};
};

/// How a counter was followed until its last reading.
struct CounterTrack {
  std::uint64_t first_raw = 0;  ///< of the first reading, at which it has 0 ticks
  TimePoint since{};            ///< of the first reading, or of the first one after the last loss
  std::uint64_t losses = 0;     ///< of track: values across one do not compare
  TimePoint moved_at{};         ///< of the last reading that moved, or of the first one
  TimePoint read_at{};          ///< of the last reading with a value, renewed or not
  bool is_known = false;        ///< the last reading had a value
};

/// The events in a window.
struct Condition {
  Flags flags;
  std::chrono::nanoseconds unknown{0};
  /// The part of `unknown` whose events were dropped to save memory.
  std::chrono::nanoseconds forgotten{0};
};

/// Takes the readings of one channel. A counter is unwrapped here. The value of a gauge holds until
/// it is due to be read again and one update interval more, or for `longest_pause`, and is unknown
/// from then on.
///
/// Threads: `add`, `note_suspend`, `set_period`, `last`, `track` one at a time (the reader's);
/// everything else any, at any time. No call waits for another, and nothing but the constructor
/// allocates.
class WATTLE_EXPORT History {
 public:
  /// Throws `InvalidArgument` for options that no timeline takes.
  History(const Channel& channel, const HistoryOptions& options);

  void add(const Reading& reading) noexcept;
  /// The machine was suspended since the last reading: the time until the next one is unknown.
  void note_suspend() noexcept;
  /// From now on the channel is read every `period`, at most `longest_period`.
  void set_period(std::chrono::nanoseconds period) noexcept;

  [[nodiscard]] const Channel& channel() const noexcept { return channel_; }
  [[nodiscard]] bool is_counter() const noexcept { return channel_.metric == Metric::energy; }
  /// Raw integers; those of a counter are unwrapped.
  [[nodiscard]] const Timeline& values() const noexcept { return values_; }

  /// Counters: the last value that was read, to the nanosecond; absent where there is none.
  [[nodiscard]] std::optional<Boundary> last() const noexcept { return last_; }
  /// Counters: how it was followed until the last `add`.
  [[nodiscard]] const CounterTrack& track() const noexcept { return track_; }
  /// True if the last `add` brought a value.
  [[nodiscard]] bool is_fresh() const noexcept { return fresh_; }
  /// Counters: the value at `time`, linear between the readings around it. Absent before the first
  /// and after the last reading; a time within the same microsecond is that of the reading.
  [[nodiscard]] std::optional<Boundary> at(TimePoint time) const noexcept;

  /// The time between two independent samples of the channel: the period of its reader, or the
  /// update interval of its sensor if that is longer.
  [[nodiscard]] std::chrono::nanoseconds spacing() const noexcept {
    return std::max(period(), update());
  }
  /// How often the channel is read now.
  [[nodiscard]] std::chrono::nanoseconds period() const noexcept {
    return period_.load(std::memory_order_relaxed);
  }
  /// The update interval of the sensor. If it is unknown: `kAssumedUpdate` for a gauge, 0 for a
  /// counter.
  [[nodiscard]] std::chrono::nanoseconds update() const noexcept;
  /// Gauges: the longest that a value counts after it was last confirmed.
  [[nodiscard]] std::chrono::nanoseconds hold() const noexcept { return hold_; }
  /// Gauges: the same at the present period.
  [[nodiscard]] std::chrono::nanoseconds valid_for() const noexcept;
  /// Gauges: the longest time for which a value is reported after the power changed.
  [[nodiscard]] std::chrono::nanoseconds longest_age() const noexcept;
  /// Gauges: the reading whose value is valid at `time`; absent if there is none.
  [[nodiscard]] std::optional<StoredReading> held(TimePoint time) const noexcept;
  /// Gauges: the integral over the time in which a value was valid.
  [[nodiscard]] GaugeWindow gauge_window(TimePoint begin, TimePoint end) const noexcept;

  /// Bytes in use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return values_.memory_bytes() + states_.memory_bytes() + losses_.memory_bytes();
  }

  /// The events from `begin` to `end`. The time before the first reading, and after the last one of
  /// a counter, is not part of `unknown`.
  [[nodiscard]] Condition condition(TimePoint begin, TimePoint end) const;
  /// Calls `visit(begin, end)` for each interval of `condition(begin, end).unknown`, in order.
  void visit_unknown(TimePoint begin, TimePoint end,
                     const std::function<void(TimePoint, TimePoint)>& visit) const;

 private:
  void add_counter(const Reading& reading) noexcept;
  void add_gauge(const Reading& reading) noexcept;
  void note_loss(const Reading& reading) noexcept;
  /// Gauges: the time from which the newest value is no longer valid.
  [[nodiscard]] std::optional<TimePoint> overdue() const noexcept;
  /// From `at` on the channel is unknown, or known again; `flags` give the reason.
  void note(TimePoint at, bool unknown, Flags flags) noexcept;
  [[nodiscard]] bool was_lost(TimePoint begin, TimePoint end) const;

  Channel channel_;
  CounterUnwrap unwrap_;
  std::atomic<std::chrono::nanoseconds> period_;
  std::chrono::nanoseconds longest_pause_;
  std::chrono::nanoseconds hold_;  ///< the longest that `valid_for` can be
  Timeline values_;
  Timeline states_;  ///< raw: see `note`
  /// 1 from when the device was found gone, 0 from when it was back. Not in `states_`: an unknown
  /// interval is added at its end, and a loss within it would come before its start.
  Timeline losses_;

  // The reader's own.
  std::optional<Boundary> last_;
  CounterTrack track_;
  std::uint64_t ticks_ = 0;
  bool fresh_ = false;
  bool suspended_ = false;
  bool unknown_ = false;
  bool lost_ = false;
};

}  // namespace wattle
