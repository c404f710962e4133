// The CPU time that groups used between two readings of the tree of control groups. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "usage/cgroup/cgroup_tree.hpp"

namespace wattle::daemon {

/// Threads: one at a time.
class GroupUsage {
 public:
  /// The use of each present group since the last reading, in microseconds; 0 for one that did
  /// nothing. A control group that is new counts from its start, if the last reading was whole.
  [[nodiscard]] std::map<CgroupGroup, std::uint64_t> take(const CgroupTree::CgroupReading& reading);

 private:
  std::map<std::string, std::uint64_t, std::less<>> used_us_{};  ///< by path
  bool was_whole_ = false;
};

}  // namespace wattle::daemon
