// Time that passes only when a test lets it.
#pragma once

#include <chrono>

#include "base/clock.hpp"

namespace wattle::fakes {

/// Begins an hour after the steady clock's epoch. Threads: one at a time.
class VirtualClock final : public Clock {
 public:
  void advance(std::chrono::nanoseconds time) noexcept { now_ += time; }
  /// Lets the machine sleep: the steady clock stands still meanwhile.
  void suspend(std::chrono::nanoseconds time) noexcept { suspended_ += time; }
  /// From now on every look at the clock takes this long.
  void advance_at_each_look(std::chrono::nanoseconds time) noexcept { step_ = time; }

  /// The time, without a look that would take any.
  [[nodiscard]] TimePoint at() const noexcept { return now_; }

  [[nodiscard]] TimePoint now() const noexcept override {
    const TimePoint seen = now_;
    now_ += step_;
    return seen;
  }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return suspended_; }

 private:
  mutable TimePoint now_{std::chrono::hours(1)};
  std::chrono::nanoseconds step_{0};
  std::chrono::nanoseconds suspended_{0};
};

}  // namespace wattle::fakes
