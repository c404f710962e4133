#include "run/task_clock.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace wattle::app {
namespace {

using namespace std::chrono_literals;

Fd open_clock(pid_t process) noexcept {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_TASK_CLOCK;
  event.inherit = 1;
  // A clock counts the kernel's part all the same; without these, the kernel would ask for rights.
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  constexpr int kEveryProcessor = -1;
  constexpr int kNoGroup = -1;
  // perf_event_open(2) has no wrapper in the C library.
  return Fd(static_cast<int>(::syscall(SYS_perf_event_open, &event, process, kEveryProcessor,
                                       kNoGroup, PERF_FLAG_FD_CLOEXEC)));
}

/// Both counts are exact but for what a process takes to be made and to end (about 40 us of a small
/// one), and for the 10 ms by which procfs counts what still runs, in user and in system time.
constexpr double kShare = 0.02;
constexpr Seconds kFloor = 20ms;
constexpr Seconds kStillRunning = 20ms;

/// For many small processes that is a tenth, and for each context switch a part of 5 us (both
/// measured in a virtual machine). A clock that the kernel stopped lacks nearly all.
constexpr double kStoppedShare = 0.25;
constexpr Seconds kStoppedFloor = 50ms;
constexpr Seconds kOfASwitch = 10us;

}  // namespace

TaskClock::TaskClock(pid_t process) : event_(open_clock(process)) {
  if (event_) return;
  const int error = errno;
  refused_ = "perf counts no task clock here: " + std::generic_category().message(error);
  if (error == EACCES || error == EPERM) {
    refused_ += " (kernel.perf_event_paranoid is above 2, or a filter forbids the call)";
  }
}

std::optional<Seconds> TaskClock::read() const noexcept {
  std::uint64_t count_ns = 0;
  if (!event_ || ::read(event_.get(), &count_ns, sizeof count_ns) != sizeof count_ns) {
    return std::nullopt;
  }
  return std::chrono::duration<double, std::nano>(static_cast<double>(count_ns));
}

std::optional<UsageMismatch> compare(const CpuCounts& counts) {
  const Seconds more = counts.clocked - counts.waited;
  const Seconds tolerated =
      kShare * counts.waited + kFloor + static_cast<double>(counts.still_running) * kStillRunning;
  if (counts.interrupted && more > tolerated + *counts.interrupted) {
    return UsageMismatch{
        {"cpu_user_s", "cpu_system_s", "cpu_s"},
        fmt::format("perf's task clock counted {:.3f} s more: of processes whose parents ignored "
                    "their end, so that their usage was not reported",
                    more.count())};
  }
  const Seconds unseen = kStoppedShare * counts.waited + kStoppedFloor +
                         static_cast<double>(counts.switches) * kOfASwitch;
  if (-more > unseen) {
    return UsageMismatch{
        {"cpu_task_clock_s"},
        fmt::format("{:.3f} s less than cpu_s: the kernel stops this clock in programs that change "
                    "their user, or that their user may not read",
                    -more.count())};
  }
  return std::nullopt;
}

}  // namespace wattle::app
