// How busy the hardware threads are that an estimate is about.
#pragma once

#include <optional>

#include "estimate/cpu_quota.hpp"
#include "sensors/proc_tables.hpp"
#include "wattle/clock.hpp"
#include "wattle/system.hpp"

namespace wattle {

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
