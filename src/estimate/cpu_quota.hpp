// How many CPUs a container, or another control group, may use. Versions 1 and 2 of cgroups.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "wattle/clock.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// The paths of a process's control groups, from the text of /proc/PID/cgroup; empty where there is
/// none. They start with "/" and have no "..".
struct CgroupPaths {
  std::string v2;
  std::string v1_cpu;      ///< of the controller "cpu"
  std::string v1_cpuacct;  ///< of the controller "cpuacct"
};
[[nodiscard]] CgroupPaths parse_cgroup_paths(std::string_view text);

/// CPUs at a time, from the text of cpu.max: "200000 100000" is 2.0; absent for "max".
[[nodiscard]] std::optional<double> parse_cpu_max(std::string_view text) noexcept;
/// The same from cpu.cfs_quota_us and cpu.cfs_period_us; absent for a quota of -1.
[[nodiscard]] std::optional<double> parse_cfs_quota(std::string_view quota,
                                                    std::string_view period) noexcept;
/// CPU time since the group was made, from the text of cpu.stat.
[[nodiscard]] std::optional<Seconds> parse_usage(std::string_view text) noexcept;

/// The tightest limit of this process's groups.
struct CpuQuota {
  double cpus = 0.0;
  std::filesystem::path usage_file;  ///< the CPU time of the group that has the limit
  bool is_v2 = true;

  /// Absent where the file cannot be read.
  [[nodiscard]] std::optional<Seconds> usage() const;
};

/// The quota of this process; absent if it has none.
[[nodiscard]] std::optional<CpuQuota> read_cpu_quota(const System& system);

}  // namespace wattle
