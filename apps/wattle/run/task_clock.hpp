// A second count of the command's processor time, to hold the first (`wait4`) against.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/files/fd.hpp"
#include "wattle/clock.hpp"
#include "wattle/tracker.hpp"

namespace wattle::app {

/// perf's task clock (`PERF_COUNT_SW_TASK_CLOCK`, inherited): the processor time of a process and
/// of everything that it starts from now on, also of what ends without anybody waiting for it.
/// Threads: one.
class TaskClock {
 public:
  /// Counts nothing.
  TaskClock() : refused_("not asked for (--task-clock)") {}
  /// The kernel then takes about 4 us more for each context switch of that process and those that
  /// it starts. `process`: a child that has neither threads nor children yet. Needs no rights where
  /// /proc/sys/kernel/perf_event_paranoid is at most 2.
  explicit TaskClock(pid_t process);

  /// Absent where the kernel does not count for this user.
  [[nodiscard]] std::optional<Seconds> read() const noexcept;
  /// Why `read` is absent, where it is.
  [[nodiscard]] const std::string& refused() const noexcept { return refused_; }

 private:
  Fd event_;
  std::string refused_ = "the kernel does not report what perf's task clock counted";
};

/// Two counts of the same processes.
struct CpuCounts {
  Seconds waited{0};   ///< by `wait4`, and of those that still run by procfs
  Seconds clocked{0};  ///< by the task clock
  /// CPU time that interrupts and the hypervisor took on all processors. The task clock may include
  /// the part that interrupted the command. Absent: not known.
  std::optional<Seconds> interrupted{};
  std::uint64_t switches = 0;  ///< context switches, which the task clock does not see whole
  std::size_t still_running = 0;
};

/// Absent where the two agree.
[[nodiscard]] std::optional<UsageMismatch> compare(const CpuCounts& counts);

}  // namespace wattle::app
