// CPU times of all processes of a machine, and who they belong to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

struct ProcessTimes {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  ///< with `pid` it names a process for good
  std::string name;              ///< at most 15 bytes, printable
  std::uint64_t ticks = 0;       ///< its own CPU time, in hundredths of a second
};

/// Sorted by `pid`; empty where processes cannot be listed. Reads a file of each: 4 to 8 us.
[[nodiscard]] std::vector<ProcessTimes> read_process_times(const System& system);

struct ProcessUse {
  pid_t pid = 0;
  std::string name;
  Seconds cpu{0};
};

/// The CPU time of the processes in `after` since `before`, both from `read_process_times`, most
/// first. Processes that used nothing are left out, and those whose use is unknown: it ran before,
/// but is not in `before`.
[[nodiscard]] std::vector<ProcessUse> uses_between(const std::vector<ProcessTimes>& before,
                                                   const std::vector<ProcessTimes>& after);

/// The users of processes. A name is asked for once: a directory service may take long to answer.
/// Threads: one at a time.
class UserNames {
 public:
  /// "alice", or "1000" for a user without a name; "unknown" for a process that is gone.
  [[nodiscard]] std::string of(const System& system, pid_t pid);

 private:
  std::unordered_map<uid_t, std::string> names_{};
};

/// The path of its control group, of version 2 or of the controller "cpu": "/user.slice/a.scope";
/// "/" where there is none, "unknown" for a process that is gone. Whole, however long it is.
[[nodiscard]] std::string cgroup_of(const System& system, pid_t pid);
/// The container in the path of a control group, by the first 12 digits of its number; empty where
/// the path names none. Docker, containerd, CRI-O and Podman put 64 hexadecimal digits there.
[[nodiscard]] std::string container_in(std::string_view cgroup);
/// The Kubernetes pod in the path of a control group, by the first 8 digits of its UID; empty where
/// the path names none. The kubelet puts "pod" and the UID there, with "-" or "_" in it.
[[nodiscard]] std::string pod_in(std::string_view cgroup);

}  // namespace wattle
