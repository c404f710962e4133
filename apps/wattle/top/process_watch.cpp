#include "top/process_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/cpu_time.hpp"

namespace wattle::app {

ProcessWatch::ProcessWatch(const System& system) : system_(system), procfs_(system, 0) {}

std::vector<TopProcess> ProcessWatch::read() {
  constexpr std::uint64_t kAskAgain = 10;
  constexpr std::uint64_t kRemembered = 10;  // readings after the last one that a process was in
  ++readings_;
  const std::uint64_t newest_before = newest_start_;
  std::vector<TopProcess> processes;
  for (const pid_t pid : procfs_.processes()) {
    auto stat = procfs_.read_stat(pid);
    if (!stat || has_ended(*stat)) continue;
    newest_start_ = std::max(newest_start_, stat->start_time);
    Known& known = known_[pid];
    const std::uint64_t ticks = stat->user + stat->system;
    std::optional<Seconds> cpu;
    if (known.first == 0 || known.start_time != stat->start_time) {
      known = {.start_time = stat->start_time, .first = readings_};
      // It has started since the last reading, or could not be read until now.
      if (readings_ > 1 && stat->start_time >= newest_before) cpu = ClockTicks(ticks);
    } else if (known.last + 1 == readings_) {
      cpu = ClockTicks(ticks - std::min(ticks, known.ticks));
    }
    // One that has just started may be about to execute another program, or to be moved.
    const bool is_young = known.first > 1 && readings_ - known.first == 1;
    const bool is_due = (readings_ + static_cast<std::uint64_t>(pid)) % kAskAgain == 0;
    if (known.first == readings_ || is_young || is_due) {
      known.user = users_.of(system_, pid);
      known.cgroup = cgroup_of(system_, pid);
    }
    processes.push_back({.pid = pid,
                         .parent = stat->parent,
                         .command = stat->name,
                         .user = known.user,
                         .cgroup = known.cgroup,
                         .cpu = cpu,
                         .memory_bytes = stat->resident_bytes});
    known.ticks = ticks;
    known.last = readings_;
  }
  std::erase_if(known_,
                [&](const auto& entry) { return entry.second.last + kRemembered < readings_; });
  return processes;
}

}  // namespace wattle::app
