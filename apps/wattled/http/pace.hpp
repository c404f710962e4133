// Calls a function at equal intervals.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/schedule.hpp"
#include "http/loop.hpp"

namespace wattle::daemon {

/// Calls a function periodically, from `start` to `stop`. Threads: the loop's.
class Pace {
 public:
  Pace(Loop& loop, std::chrono::nanoseconds period, Work tick)
      : loop_(loop), period_(period), tick_(std::move(tick)), timer_(loop.make_timer()) {}
  /// The first tick is one period from now. Does nothing while running.
  void start();
  void stop();
  [[nodiscard]] bool is_running() const noexcept { return schedule_.has_value(); }

 private:
  void wait();

  Loop& loop_;
  std::chrono::nanoseconds period_;
  Work tick_;
  std::unique_ptr<Timer> timer_;
  std::optional<Schedule> schedule_;
};

}  // namespace wattle::daemon
