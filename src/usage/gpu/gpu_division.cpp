#include "usage/gpu/gpu_division.hpp"

#include <algorithm>
#include <utility>

namespace wattle {
namespace {

/// Processes of another PID namespace, or of other users, may be missing in a list.
GpuParts parts_of_nobody(const std::optional<double>& utilization_percent) {
  constexpr double kIdleBelow = 1.0;  // drivers show whole percents
  if (!utilization_percent) {
    return {.unknown = "no process is listed, and its utilization is unknown"};
  }
  if (*utilization_percent < kIdleBelow) return {};
  return {.unknown = "it is in use, but no process is listed"};
}

}  // namespace

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

GpuParts divide_gpu(const GpuLoad& load, const GroupOfProcess& group_of, bool has_mps) {
  if (!load.users_unknown.empty()) return {.unknown = std::string(load.users_unknown)};
  if (!load.users) return {.unknown = "the driver does not list its processes"};
  const std::vector<GpuUser>& users = *load.users;
  if (users.empty()) return parts_of_nobody(load.utilization_percent);
  if (has_mps) return {.unknown = "an MPS server uses it, and the driver does not list for whom"};
  GpuParts known;
  double sum = 0.0;
  for (const GpuUser& user : users) {
    const std::optional<std::size_t> group = group_of(user);
    sum += user.part.value_or(0.0);
    const auto found = std::ranges::find(known.parts, group, &GpuPart::group);
    if (found == known.parts.end()) {
      known.parts.push_back({group, user.part.value_or(0.0)});
    } else {
      found->part += user.part.value_or(0.0);
    }
  }
  if (known.parts.size() == 1) return {.parts = {{known.parts.front().group, 1.0}}};
  const bool has_parts =
      std::ranges::all_of(users, [](const GpuUser& it) { return it.part.has_value(); });
  if (!has_parts) return {.unknown = "the driver does not report who uses how much of it"};
  if (!(sum > 0.0)) return {.unknown = "it worked for none of its processes"};
  for (GpuPart& part : known.parts) part.part /= sum;
  return known;
}

}  // namespace wattle
