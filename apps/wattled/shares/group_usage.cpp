#include "shares/group_usage.hpp"

#include <utility>

namespace wattle::daemon {

std::map<CgroupGroup, std::uint64_t> GroupUsage::take(const CgroupTree::CgroupReading& reading) {
  std::map<CgroupGroup, std::uint64_t> groups;
  std::map<std::string, std::uint64_t, std::less<>> used_us;
  for (const auto& [path, time] : reading.times) {
    const auto before = used_us_.find(path);
    std::uint64_t since = time.used_us;
    if (before != used_us_.end()) {
      // One that is below was made again under the same name: it counts from its start.
      if (time.used_us >= before->second) since -= before->second;
    } else if (!was_whole_) {
      since = 0;
    }
    groups[time.group] += since;
    used_us.emplace_hint(used_us.end(), path, time.used_us);
  }
  used_us_ = std::move(used_us);
  was_whole_ = reading.is_whole;
  return groups;
}

}  // namespace wattle::daemon
