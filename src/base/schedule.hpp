// When something is done again: deadlines at equal distances, how far to slow down where it costs
// too much, and the delay before what failed is tried again. Arithmetic only; who waits is
// worker.cpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "wattle/clock.hpp"

namespace wattle {

/// Deadlines on a grid that starts at a given time: a late tick does not shift the next one.
/// Threads: one at a time.
class Schedule {
 public:
  Schedule(TimePoint begin, std::chrono::nanoseconds period) noexcept
      : next_(begin + period), period_(period) {}

  [[nodiscard]] TimePoint next() const noexcept { return next_; }
  /// Deadlines that passed before the tick of an earlier one was done. They are not made up for.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

  /// The tick of `next()` is done, and it is `now`.
  void advance(TimePoint now) noexcept {
    next_ += period_;
    if (now < next_) return;
    const auto passed = (now - next_) / period_ + 1;
    missed_ += static_cast<std::uint64_t>(passed);
    next_ += passed * period_;
  }

  /// From the next deadline on.
  void set_period(std::chrono::nanoseconds period) noexcept { period_ = period; }

 private:
  TimePoint next_;
  std::chrono::nanoseconds period_;
  std::uint64_t missed_ = 0;
};

/// Doubles the period while reading takes more than a share of all time, and halves it again once
/// it takes less than two fifths of that share. Threads: one at a time.
class Backoff {
 public:
  /// So much of all time may be spent inside a driver: its calls take locks that the work that is
  /// measured waits for too.
  static constexpr double kMostBusy = 0.01;
  /// `longest`: at most this number of periods.
  explicit Backoff(int longest = 8) noexcept : longest_(longest) {}

  /// A tick took `busy` of the `elapsed` time since the one before.
  void add(std::chrono::nanoseconds busy, std::chrono::nanoseconds elapsed) noexcept {
    busy_ += busy;
    elapsed_ += elapsed;
    constexpr int kTicks = 10;
    if (++ticks_ < kTicks) return;
    const double share = std::chrono::duration<double>(busy_) /
                         std::chrono::duration<double>(std::max(elapsed_, kShortest));
    // At half the period it would take twice the share; what is below that keeps it from swinging.
    if (share > kMostBusy) factor_ = std::min(factor_ * 2, longest_);
    if (share < 0.4 * kMostBusy) factor_ = std::max(factor_ / 2, 1);
    ticks_ = 0;
    busy_ = elapsed_ = std::chrono::nanoseconds(0);
  }

  /// The factor for the period: 1, 2, 4 ... at most `longest`.
  [[nodiscard]] int factor() const noexcept { return factor_; }

 private:
  static constexpr std::chrono::nanoseconds kShortest{1};
  std::chrono::nanoseconds busy_{0};
  std::chrono::nanoseconds elapsed_{0};
  int longest_;
  int ticks_ = 0;
  int factor_ = 1;
};

/// Spaces calls some of their own lengths apart, but no more than two seconds. Threads: one at a
/// time.
class CallSpacing {
 public:
  explicit CallSpacing(int lengths) noexcept : lengths_(lengths) {}
  [[nodiscard]] bool is_due(TimePoint now) const noexcept { return now >= next_; }
  /// A call started and ended.
  void add(TimePoint start, TimePoint end) noexcept {
    constexpr std::chrono::nanoseconds kMost = std::chrono::seconds(2);
    next_ = start + std::min<std::chrono::nanoseconds>(lengths_ * (end - start), kMost);
  }

 private:
  int lengths_;
  TimePoint next_ = TimePoint::min();
};

/// The first delay, then doubled every time, up to the longest. Each is randomly up to 20 % longer
/// or shorter, so that a thousand clients of a restarted server do not reconnect at once. If the
/// longest is not above the first, every delay is exactly the first. Not thread-safe.
class RetryDelay {
 public:
  using Delay = std::chrono::nanoseconds;

  RetryDelay(Delay first, Delay longest)
      : first_(first), longest_(std::max(first, longest)), next_(first) {}

  /// `chance`: from 0 up to 1.
  [[nodiscard]] Delay next(double chance) noexcept {
    const Delay delay = std::exchange(next_, std::min(2 * next_, longest_));
    return spread(delay, chance);
  }
  [[nodiscard]] Delay first(double chance) const noexcept { return spread(first_, chance); }
  [[nodiscard]] Delay longest(double chance) const noexcept { return spread(longest_, chance); }
  void reset() noexcept { next_ = first_; }

 private:
  [[nodiscard]] Delay spread(Delay delay, double chance) const noexcept {
    if (first_ == longest_) return delay;
    return std::chrono::duration_cast<Delay>((0.8 + 0.4 * chance) * delay);
  }

  Delay first_;
  Delay longest_;
  Delay next_;
};

}  // namespace wattle
