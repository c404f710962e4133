// How busy the hardware threads are that an estimate is about, and how many CPUs a container, or
// another control group, may use. Versions 1 and 2 of cgroups.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sensors/proc_tables.hpp"
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

/// Between two moments. Times are of all threads together: 8 threads have 8 s in a second.
struct CpuLoad {
  double threads = 0.0;           ///< online, or fewer by a CPU quota
  Seconds available{0};           ///< their time without what the hypervisor gave to others
  Seconds busy{0};                ///< at most `available`
  double stolen_part = 0.0;       ///< of their time, 0 to 1
  std::optional<double> quota{};  ///< CPUs at a time that a control group may use, if fewer

  /// From 0 to 1.
  [[nodiscard]] double mean() const noexcept {
    return available > Seconds(0) ? busy / available : 0.0;
  }
};

struct CpuMoment {
  TimePoint at;
  CpuTimes times;
  std::optional<Seconds> group_usage;  ///< CPU time of the group with the quota
};

/// Absent where no time passed, the counters fell or the number of threads is not known.
[[nodiscard]] std::optional<CpuLoad> load_between(const CpuMoment& begin, const CpuMoment& end,
                                                  std::optional<double> quota) noexcept;

/// Reads /proc/stat, and the CPU time of the control group that has a quota. Threads: one at a
/// time.
class CpuLoadReader {
 public:
  explicit CpuLoadReader(const System& system);

  /// Absent where /proc/stat cannot be read.
  [[nodiscard]] std::optional<CpuMoment> read() const;
  [[nodiscard]] std::optional<double> quota() const noexcept {
    return quota_ ? std::optional(quota_->cpus) : std::nullopt;
  }

 private:
  System system_;
  std::optional<CpuQuota> quota_;
};

}  // namespace wattle
