#include "units/thread_clock.hpp"

#include <unistd.h>

#include "base/cpu_time.hpp"
#include "base/forks.hpp"

namespace wattle::detail {

namespace {

/// The number of the calling thread, which costs a system call: once for each thread.
std::int32_t kernel_number_of_this_thread() noexcept {
  struct KnownThread {
    std::uint64_t forks = 0;
    std::int32_t number = 0;
  };
  static thread_local KnownThread known;
  const std::uint64_t now = forks();
  if (known.number == 0 || known.forks != now) known = {.forks = now, .number = ::gettid()};
  return known.number;
}

std::int64_t ns_of_clock(clockid_t clock) noexcept {
  const auto used = cpu_time(clock);
  return used ? used->count() : -1;
}

class KernelThreads final : public ThreadClock {
 public:
  [[nodiscard]] ThreadTime here() const noexcept override {
    const std::int64_t used_ns = ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
    if (used_ns < 0) return {};
    return {.thread = kernel_number_of_this_thread(), .used_ns = used_ns};
  }
  [[nodiscard]] std::int64_t used_ns(std::int32_t thread) const noexcept override {
    if (thread == kernel_number_of_this_thread()) return ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
    // CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED of the kernel: the number that `pthread_getcpuclockid`
    // gives, which only a thread that lives may be asked for.
    constexpr unsigned kScheduledOfThread = 6;
    return ns_of_clock(
        static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | kScheduledOfThread));
  }
};

}  // namespace

const ThreadClock& machine_threads() noexcept {
  static const KernelThreads threads;
  return threads;
}

}  // namespace wattle::detail
