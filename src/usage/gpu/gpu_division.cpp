#include "usage/gpu/gpu_division.hpp"

#include <algorithm>

namespace wattle {
namespace {

/// Processes of another PID namespace, or of other users, may be missing in a list.
GpuParts parts_of_nobody(const std::optional<double>& utilization_percent) {
  constexpr double kIdleBelow = 1.0;  // drivers show whole percents
  if (!utilization_percent) {
    return {.unknown = "no process is listed, and its utilization is not known"};
  }
  if (*utilization_percent < kIdleBelow) return {};
  return {.unknown = "it is in use, but no process is listed"};
}

}  // namespace

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
