// Time by the kernel's clocks, to the nanosecond, and by its ticks.
#pragma once

#include <sys/time.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <ratio>

#include "wattle/clock.hpp"

namespace wattle {

/// The unit of the CPU times in procfs (USER_HZ).
using ClockTicks = std::chrono::duration<std::uint64_t, std::centi>;

[[nodiscard]] inline Seconds seconds_of(const timeval& time) noexcept {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

/// The CPU time used by the thread or process of a CPU clock; absent where it is gone. Threads:
/// any.
[[nodiscard]] inline std::optional<std::chrono::nanoseconds> cpu_time(clockid_t clock) noexcept {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// The time of a clock that every machine has. Threads: any.
[[nodiscard]] inline std::chrono::nanoseconds clock_time(clockid_t clock) noexcept {
  return cpu_time(clock).value_or(std::chrono::nanoseconds(0));
}

/// The CPU time used by the calling thread.
[[nodiscard]] inline std::chrono::nanoseconds thread_cpu_time() noexcept {
  return clock_time(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace wattle
