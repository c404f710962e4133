// Waiting: for descriptors, for the signal to end, and for the next time to read.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "base/files/fd.hpp"
#include "output/live_output.hpp"
#include "wattle/clock.hpp"

namespace wattle::app {

/// As poll(2); `timeout_ms` -1: no limit. If the kernel fails (ENOMEM), waits for 10 ms and marks
/// every descriptor as ready: for callers that read without blocking. An interruption marks none.
void patient_poll(std::span<pollfd> waited, int timeout_ms) noexcept;

/// Readable when one of `signals` has come. Those that are ignored stay ignored. To be called
/// before there are threads: they inherit the blocked signals. Throws `Error`.
[[nodiscard]] Fd signal_fd(std::span<const int> signals);

/// The same of INT, TERM and HUP; ignores PIPE and XFSZ.
[[nodiscard]] Fd end_signals();
/// True if one of them has come. Takes it; does not wait.
[[nodiscard]] bool has_come(const Fd& end) noexcept;

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

/// Waits for the next tick, and writes the rest of `out` in that time. False: time to end, since
/// `end` is readable or the reader of `out` is gone.
[[nodiscard]] bool wait_for_tick(Ticker& ticker, LiveOutput& out, const Fd& end);

/// The same without a text.
[[nodiscard]] bool wait_for_tick(Ticker& ticker, const Fd& end);

}  // namespace wattle::app
