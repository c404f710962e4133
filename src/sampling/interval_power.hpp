// The mean powers of equal intervals, as they end one by one.
#pragma once

#include <algorithm>
#include <optional>

#include "wattle/units.hpp"

namespace wattle {

/// Threads: one at a time.
class IntervalPower {
 public:
  /// An interval has ended, over which the mean power was this; absent where it is not known. True
  /// if no interval before it had as high a power.
  bool add(std::optional<Watts> power) noexcept {
    last_ = power;
    ++count_;
    const bool is_highest = power && (!max_ || *power > *max_);
    if (is_highest) max_ = power;
    return is_highest;
  }

  /// The part of a window after its last whole interval: not in `max`.
  void add_rest(std::optional<Watts> power) noexcept { last_ = power; }

  /// The power of the last interval.
  [[nodiscard]] std::optional<Watts> last() const noexcept { return last_; }
  /// The highest; absent under two intervals.
  [[nodiscard]] std::optional<Watts> max() const noexcept {
    return count_ < 2 ? std::nullopt : max_;
  }

 private:
  std::optional<Watts> last_;
  std::optional<Watts> max_;
  unsigned long long count_ = 0;
};

}  // namespace wattle
