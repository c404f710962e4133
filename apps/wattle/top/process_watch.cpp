#include "top/process_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/cpu_time.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kTurn = 10;         ///< readings until it is asked again whose one is
constexpr std::uint64_t kRestingTurn = 30;  ///< and until one that rests is read again

/// The number of the clock is that of `clock_getcpuclockid`, which asks the kernel in addition
/// whether there is such a process.
std::optional<nanoseconds> kernel_cpu_clock(pid_t pid) {
  constexpr unsigned kScheduled = 2;  // CPUCLOCK_SCHED of the kernel: the time in the scheduler
  return cpu_time(static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3U) | kScheduled));
}

/// The number that this process has in a procfs; absent where it is not in it.
std::optional<pid_t> own_number_in(const System& system) {
  std::array<char, 16> text{};
  const ssize_t length = ::readlink((system.procfs / "self").c_str(), text.data(), text.size() - 1);
  return length > 0 ? parse_pid({text.data(), static_cast<std::size_t>(length)}) : std::nullopt;
}

}  // namespace

CpuClockOf kernel_cpu_clocks(const System& system) {
  const pid_t self = ::getpid();
  const auto used = kernel_cpu_clock(self);
  // A system that numbers clocks otherwise has none at this number.
  const bool has_clocks = is_own_procfs(system) && own_number_in(system) == self && used &&
                          *used <= clock_time(CLOCK_PROCESS_CPUTIME_ID);
  return has_clocks ? CpuClockOf(kernel_cpu_clock) : CpuClockOf();
}

ProcessWatch::ProcessWatch(const System& system, CpuClockOf clock_of)
    : system_(system), procfs_(system, 0), clock_of_(std::move(clock_of)) {}

std::vector<TopProcess> ProcessWatch::read() {
  constexpr std::uint64_t kRemembered = 10;  // readings after the last one that a process was in
  ++readings_;
  newest_before_ = newest_start_;
  const std::vector<pid_t> pids = procfs_.processes();
  std::vector<TopProcess> processes;
  processes.reserve(pids.size());
  for (const pid_t pid : pids) {
    // Before the files: what it does in between, it has done at the next reading.
    const auto used = clock_of_ ? clock_of_(pid) : std::nullopt;
    KnownProcess& known = known_[pid];
    if (rests(known, used)) {
      known.shown.cpu = Seconds(0);
    } else if (!update(known, pid, used)) {
      continue;
    }
    known.last = readings_;
    if (!known.has_ended) processes.push_back(known.shown);
  }
  std::erase_if(known_,
                [&](const auto& entry) { return entry.second.last + kRemembered < readings_; });
  return processes;
}

/// Another process with its number would have to have used as much, to the nanosecond.
bool ProcessWatch::rests(const KnownProcess& known,
                         std::optional<nanoseconds> used) const noexcept {
  // One that has just started may be about to execute another program, or to be moved.
  const bool is_young = known.first > 1 && readings_ - known.first == 1;
  return used == known.used && known.first > 0 && known.last + 1 == readings_ && !is_young &&
         !has_turn(known.shown.pid, kRestingTurn);
}

bool ProcessWatch::update(KnownProcess& known, pid_t pid, std::optional<nanoseconds> used) {
  auto stat = procfs_.read_stat(pid);
  if (!stat) return false;
  newest_start_ = std::max(newest_start_, stat->start_time);
  const bool is_new = known.first == 0 || known.start_time != stat->start_time;
  // The clock may have been that of a process before it with this number.
  if (is_new && used) used = clock_of_(pid);
  const nanoseconds now = used.value_or(ClockTicks(stat->user + stat->system));
  known.shown.cpu.reset();
  if (is_new) {
    known = {.start_time = stat->start_time, .first = readings_};
    // It has started since the last reading, or could not be read until now.
    if (readings_ > 1 && stat->start_time >= newest_before_) known.shown.cpu = now;
  } else if (known.last + 1 == readings_) {
    known.shown.cpu = std::max(now - known.used, nanoseconds(0));
  }
  known.used = now;
  known.has_ended = has_ended(*stat);
  known.shown.pid = pid;
  known.shown.parent = stat->parent;
  known.shown.command = stat->name;
  known.shown.memory_bytes = stat->resident_bytes;
  const bool is_young = known.first > 1 && readings_ - known.first == 1;
  if (is_new || is_young || has_turn(pid, kTurn)) {
    known.shown.user = users_.of(system_, pid);
    known.shown.cgroup = cgroup_of(system_, pid);
  }
  return true;
}

}  // namespace wattle::app
