// The delay before what failed is tried again.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace wattle {

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
