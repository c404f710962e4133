// Time that passes only when a test lets it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace wattle::fakes {

/// Begins an hour after the steady clock's epoch. Threads: any look at it; a test alone lets time
/// pass.
class VirtualClock final : public TimeSource {
 public:
  void advance(std::chrono::nanoseconds time) noexcept { ns_ += time.count(); }
  /// Lets the machine sleep: the steady clock stands still meanwhile.
  void suspend(std::chrono::nanoseconds time) noexcept { suspended_ = suspended_.load() + time; }
  /// From now on every look at the clock takes this long.
  void advance_at_each_look(std::chrono::nanoseconds time) noexcept { step_ = time; }

  /// The time, without a look that would take any.
  [[nodiscard]] TimePoint at() const noexcept { return time(ns_); }

  [[nodiscard]] TimePoint now() const noexcept override {
    return time(ns_.fetch_add(step_.load().count()));
  }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return suspended_; }

 private:
  static TimePoint time(std::int64_t ns) noexcept {
    return TimePoint(std::chrono::nanoseconds(ns));
  }

  mutable std::atomic<std::int64_t> ns_{std::chrono::nanoseconds(std::chrono::hours(1)).count()};
  std::atomic<std::chrono::nanoseconds> step_{std::chrono::nanoseconds(0)};
  std::atomic<std::chrono::nanoseconds> suspended_{std::chrono::nanoseconds(0)};
};

}  // namespace wattle::fakes
