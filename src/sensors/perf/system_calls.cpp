#include "sensors/perf/system_calls.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace wattle::perf {
namespace {

int open_event(const perf_event_attr& event, int cpu, int group) noexcept {
  constexpr pid_t kEveryProcess = -1;
  // perf_event_open(2) has no wrapper in the C library.
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &event, kEveryProcess, cpu, group, PERF_FLAG_FD_CLOEXEC));
}

ssize_t read_event(int fd, void* buffer, std::size_t bytes) noexcept {
  return ::read(fd, buffer, bytes);
}

constexpr SystemCalls kKernelCalls{.open_event = open_event, .read = read_event};

}  // namespace

const SystemCalls& kernel_calls() noexcept { return kKernelCalls; }

}  // namespace wattle::perf
