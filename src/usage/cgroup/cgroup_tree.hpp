// Which group of processes a control group is (a pod, a job, a service), by its path alone; and the
// CPU time of these groups, from the files of control groups.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "wattle/system.hpp"

namespace wattle {

enum class CgroupKind : std::uint8_t {
  pod,        ///< of Kubernetes, by its UID
  container,  ///< by the first 12 digits of its number, or by its name
  slurm_job,  ///< by its number
  service,    ///< of systemd: "nginx.service"
  scope,      ///< of systemd: "init.scope"
  user,       ///< all sessions and services of a user, by the UID
  cgroup,     ///< any other, by its path
};

/// "pod", "slurm_job".
[[nodiscard]] std::string_view name_of(CgroupKind kind) noexcept;

struct CgroupGroup {
  CgroupKind kind = CgroupKind::cgroup;
  std::string name{};  ///< printable, at most 200 bytes and "..."
  [[nodiscard]] auto operator<=>(const CgroupGroup&) const = default;
};

/// A group, and whether the path goes on below its control group.
struct CgroupPlace {
  CgroupGroup group;
  bool is_below = false;
};

/// The group of the control group with that path, in version 1 or 2: "/a.slice/b.service", as
/// /proc/PID/cgroup has it. Groups do not overlap: the outermost one counts. So a container in a
/// pod, or of a user, is a part of that. Absent for folders that hold groups (slices, "/docker"):
/// what runs in them directly is in no group.
[[nodiscard]] std::optional<CgroupPlace> group_of_cgroup(std::string_view path);

/// The 64 hexadecimal digits of a container that Docker, containerd, CRI-O and Podman put into a
/// path; empty where there is none.
[[nodiscard]] std::string_view container_number_in(std::string_view path) noexcept;
/// The UID that the kubelet puts after "pod", as it stands there, with "-", "_" or neither (pods
/// that a node's files define); empty where there is none.
[[nodiscard]] std::string_view pod_uid_in(std::string_view path) noexcept;

/// The CPU time of a control group and all below it since it was made.
struct CgroupTime {
  CgroupGroup group;
  std::uint64_t used_us = 0;
};

/// The files below /sys/fs/cgroup that count CPU time.
enum class CgroupVersion : std::uint8_t { none, one, two };

/// Reads the tree of control groups down to the groups (`group_of_cgroup`), never below them. Needs
/// no right: the files are readable by all users. Threads: one at a time.
class CgroupTree {
 public:
  /// Control groups that are read at a time.
  static constexpr std::size_t kMostGroups = 4096;

  explicit CgroupTree(const System& system);

  /// The file that shows the CPU time is of version 1 also where both versions are mounted and 1
  /// counts CPU time.
  [[nodiscard]] CgroupVersion version() const noexcept { return version_; }
  /// Where control groups are, or were expected.
  [[nodiscard]] const std::string& root() const noexcept { return root_; }

  struct CgroupReading {
    std::map<std::string, CgroupTime, std::less<>> times{};  ///< by path
    bool is_whole = false;  ///< false: groups may be missing, since not all of it could be read
  };
  /// All groups that are there. One that goes away during the reading is left out.
  [[nodiscard]] CgroupReading read() const;

 private:
  struct Walk;
  void visit(const std::string& path, std::size_t depth, Walk& walk) const;
  /// Absent, with `errno` 0 where it is there but shows no time.
  [[nodiscard]] std::optional<std::uint64_t> used_us(const std::string& path) const;

  std::string root_;
  CgroupVersion version_ = CgroupVersion::none;
  Fd folder_;  ///< of the root
};

/// The number after "usage_usec" in the text of cpu.stat (version 2), in microseconds.
[[nodiscard]] std::optional<std::uint64_t> parse_cpu_stat(std::string_view text) noexcept;

}  // namespace wattle
