// The files that shares need: CPU times of groups, idle power, what the kubelet knows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "estimate/baseline.hpp"
#include "shares/group_usage.hpp"
#include "shares/kubelet_files.hpp"
#include "usage/cgroup/cgroup_tree.hpp"
#include "wattle/clock.hpp"
#include "wattle/system.hpp"

namespace wattle::daemon {

struct SharePlaces {
  System system{};
  std::string baseline{};  ///< a file of `wattle baseline`; empty: the one of this user
  KubeletPlaces kubelet{};
};

/// As of one time.
struct ShareFiles {
  /// CPU time since the last reading, of all groups that are there.
  std::map<CgroupGroup, std::uint64_t> groups_us{};
  std::optional<std::uint64_t> busy_us{};  ///< likewise of everything; absent: not known
  std::string no_groups{};                 ///< why there are no groups; else empty
  bool is_whole = false;                   ///< false: not all groups were read
  KubeletFiles kubelet{};
  KeptBaseline baseline{};
  MachineIdentity machine{};
};

/// Reads CPU times every time, and the rest once in a while. Threads: one at a time.
class ShareFileReader {
 public:
  explicit ShareFileReader(SharePlaces places);

  [[nodiscard]] ShareFiles read(TimePoint now);

 private:
  void read_rare(TimePoint now);
  [[nodiscard]] std::optional<std::uint64_t> take_busy_us();

  SharePlaces places_;
  CgroupTree tree_;
  GroupUsage usage_{};
  std::optional<std::uint64_t> busy_ticks_{};
  std::optional<TimePoint> rare_at_{};
  KubeletFiles kubelet_{};
  KeptBaseline baseline_{};
  MachineIdentity machine_{};
};

}  // namespace wattle::daemon
