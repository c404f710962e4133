#include "estimate/cpu_load.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "sensors/proc_tables.hpp"

namespace wattle {

std::optional<CpuLoad> load_between(const CpuMoment& begin, const CpuMoment& end,
                                    std::optional<double> quota) noexcept {
  const Seconds wall = end.at - begin.at;
  if (wall <= Seconds(0) || end.times.total <= begin.times.total || end.times.processors == 0) {
    return std::nullopt;
  }
  const auto total = static_cast<double>(end.times.total - begin.times.total);
  const auto passed = [&](std::uint64_t CpuTimes::*field) {
    const std::uint64_t from = std::min(begin.times.*field, end.times.*field);
    return std::min(static_cast<double>(end.times.*field - from) / total, 1.0);
  };
  CpuLoad load{.threads = static_cast<double>(end.times.processors),
               .stolen_part = passed(&CpuTimes::steal)};
  // The kernel's ticks give parts of the time; its length is that of the steady clock.
  Seconds busy = wall * load.threads * passed(&CpuTimes::busy);
  if (quota && *quota < load.threads && begin.group_usage && end.group_usage) {
    load.threads = *quota;
    load.quota = quota;
    busy = std::max(*end.group_usage - *begin.group_usage, Seconds(0));
  }
  load.available = wall * load.threads * (1.0 - load.stolen_part);
  load.busy = std::min(busy, load.available);
  return load;
}

CpuLoadReader::CpuLoadReader(const System& system)
    : system_(system), quota_(read_cpu_quota(system)) {}

std::optional<CpuMoment> CpuLoadReader::read() const {
  const auto times = ProcStat(system_).read();
  if (!times) return std::nullopt;
  return CpuMoment{.at = machine_clock().now(),
                   .times = *times,
                   .group_usage = quota_ ? quota_->usage() : std::nullopt};
}

}  // namespace wattle
