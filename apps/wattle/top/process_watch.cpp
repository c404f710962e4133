#include "top/process_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/cpu_time.hpp"
#include "usage/process/process_times.hpp"

namespace wattle::app {

ProcessWatch::ProcessWatch(const System& system) : system_(system), procfs_(system, 0) {}

std::vector<TopProcess> ProcessWatch::read() {
  constexpr std::uint64_t kAskAgain = 10;
  ++readings_;
  std::vector<TopProcess> processes;
  for (const pid_t pid : procfs_.processes()) {
    auto stat = procfs_.read_stat(pid);
    if (!stat || has_ended(*stat)) continue;
    Known& known = known_[pid];
    const std::uint64_t ticks = stat->user + stat->system;
    if (known.first == 0 || known.start_time != stat->start_time) {
      known = {
          .start_time = stat->start_time, .ticks = readings_ == 1 ? ticks : 0, .first = readings_};
    }
    // One that has just started may be about to execute another program, or to be moved.
    const bool is_young = known.first > 1 && readings_ - known.first == 1;
    const bool is_due = (readings_ + static_cast<std::uint64_t>(pid)) % kAskAgain == 0;
    if (known.first == readings_ || is_young || is_due) {
      known.user = user_of(system_, pid);
      known.cgroup = cgroup_of(system_, pid);
    }
    processes.push_back({.pid = pid,
                         .parent = stat->parent,
                         .command = stat->name,
                         .user = known.user,
                         .cgroup = known.cgroup,
                         .cpu = ClockTicks(ticks - std::min(ticks, known.ticks)),
                         .memory_bytes = stat->resident_bytes});
    known.ticks = ticks;
    known.last = readings_;
  }
  std::erase_if(known_, [&](const auto& entry) { return entry.second.last != readings_; });
  return processes;
}

}  // namespace wattle::app
