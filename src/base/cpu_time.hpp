// Processor time by the kernel's CPU clocks, to the nanosecond.
#pragma once

#include <chrono>
#include <ctime>
#include <optional>

namespace wattle {

/// What the thread or process of a CPU clock has used; absent where it is gone. Threads: any.
[[nodiscard]] inline std::optional<std::chrono::nanoseconds> cpu_time(clockid_t clock) noexcept {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// That of the calling thread.
[[nodiscard]] inline std::chrono::nanoseconds cpu_time_of_this_thread() noexcept {
  return cpu_time(CLOCK_THREAD_CPUTIME_ID).value_or(std::chrono::nanoseconds(0));
}

}  // namespace wattle
