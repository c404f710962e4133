// The CPU time of threads of this process, as an interface, so that tests run in virtual time.
#pragma once

#include <cstdint>

namespace wattle::detail {

/// A thread, and how much CPU time it has used.
struct ThreadTime {
  std::int32_t thread = 0;    ///< its number in the kernel; 0: not known
  std::int64_t used_ns = -1;  ///< -1: not known
};

/// Threads: any.
class ThreadClock {
 public:
  virtual ~ThreadClock() = default;
  /// That of the calling thread; of no thread if it cannot be read.
  [[nodiscard]] virtual ThreadTime here() const noexcept = 0;
  /// CPU time of a thread in nanoseconds; -1: it has ended, or its clock cannot be read.
  [[nodiscard]] virtual std::int64_t used_ns(std::int32_t thread) const noexcept = 0;
};

/// The kernel's clocks.
[[nodiscard]] const ThreadClock& machine_threads() noexcept;

}  // namespace wattle::detail
