// Limits the amount that a server may send.
#pragma once

#include <algorithm>

#include "wattle/clock.hpp"

namespace wattle::client {

/// A budget that refills at `per_second`, up to `burst`. Not thread-safe.
class FlowLimit {
 public:
  FlowLimit(double per_second, double burst) noexcept
      : per_second_(per_second), burst_(burst), left_(burst) {}

  /// Takes `amount` from the budget. False if less was left.
  [[nodiscard]] bool admits(double amount, TimePoint now) noexcept {
    const Seconds passed = std::max(Seconds(now - refilled_), Seconds(0));
    left_ = std::min(burst_, left_ + per_second_ * passed.count());
    refilled_ = now;
    left_ -= amount;
    return left_ >= 0.0;
  }

 private:
  double per_second_;
  double burst_;
  double left_;
  TimePoint refilled_{};
};

}  // namespace wattle::client
