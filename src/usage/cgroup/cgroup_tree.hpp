// The CPU time of groups of processes, from the files of control groups.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "usage/cgroup/cgroup_group.hpp"
#include "wattle/system.hpp"

namespace wattle {

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
