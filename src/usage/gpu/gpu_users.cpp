#include "usage/gpu/gpu_users.hpp"

#include <algorithm>
#include <utility>

namespace wattle {

using std::chrono::nanoseconds;

const std::optional<std::vector<GpuUser>>& GpuUsers::take(const std::optional<ProcessList>& list,
                                                          TimePoint now) {
  if (!list || !list->processes || now - list->at > kLongest) {
    times_.reset();
    users_.reset();
  } else if (list->number != number_ || !users_) {
    users_ = users_of(*list->processes);
  }
  number_ = list ? list->number : 0;
  return users_;
}

/// A process that is new has used a GPU since it opened it; of those in the first list it is not
/// known how much of that was before.
std::vector<GpuUser> GpuUsers::users_of(const std::vector<DeviceProcess>& processes) {
  std::vector<GpuUser> users;
  std::vector<nanoseconds> used;
  std::map<pid_t, nanoseconds> times;
  bool is_known = times_.has_value();
  nanoseconds all{0};
  for (const DeviceProcess& process : processes) {
    users.push_back({.pid = process.pid, .memory_bytes = process.memory_bytes});
    is_known = is_known && process.engine_time.has_value();
    if (!process.engine_time) continue;
    times[process.pid] = *process.engine_time;
    if (!is_known) continue;
    const auto before = times_->find(process.pid);
    const nanoseconds since = before == times_->end() ? nanoseconds(0) : before->second;
    used.push_back(std::max(*process.engine_time - since, nanoseconds(0)));
    all += used.back();
  }
  times_ = std::move(times);
  if (!is_known) return users;
  for (std::size_t i = 0; i < users.size(); ++i) {
    users[i].part = all > nanoseconds(0) ? Seconds(used[i]) / Seconds(all) : 0.0;
  }
  return users;
}

}  // namespace wattle
