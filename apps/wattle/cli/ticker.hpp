// When a run reads: a timer that poll(2) can wait for.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/files/fd.hpp"
#include "wattle/clock.hpp"

namespace wattle::app {

/// The times of reads: equal steps from `begin` on. If a counter could wrap unseen in an interval,
/// there are reads within the interval as well.
class Ticker {
 public:
  Ticker(TimePoint begin, std::chrono::nanoseconds interval,
         std::chrono::nanoseconds longest_period);

  [[nodiscard]] int fd() const noexcept { return timer_.get(); }
  /// Reads that were skipped because their time had passed.
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }

  /// To be called when `fd` is readable: true if an interval has ended. Times that have passed are
  /// counted, not made up for.
  bool ends_interval() noexcept;

 private:
  std::int64_t reads_per_interval_;
  Fd timer_;
  std::uint64_t reads_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace wattle::app
