// For how long a GPU worked, and for which processes, by the driver's samples of its utilization.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/schedule.hpp"
#include "sensors/nvml/api.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

/// Sums the driver's samples of the GPU's utilization (nvmlDeviceGetSamples), which have no gaps:
/// an H100 keeps one for every 0.2 s of the last 14 s, where nvmlDeviceGetUtilizationRates shows a
/// half of the time. The driver has none under MIG. Threads: one at a time.
class BusySamples {
 public:
  /// From the first call on. Absent where the driver does not have them. The driver is asked less
  /// often if that takes long.
  [[nodiscard]] std::optional<BusyTime> until_now(const Api& api, Handle handle,
                                                  const TimeSource& clock);

 private:
  bool ask(const Api& api, Handle handle);

  BusyTime sum_;
  std::uint64_t newest_us_ = 0;  ///< of the samples that were added, in the driver's time
  bool answers_ = false;
  CallSpacing spacing_{1000};  ///< 0.1 % of the time
};

/// Sums the driver's samples of each process's utilization (nvmlDeviceGetProcessUtilization): time
/// in which the multiprocessors worked for it, from about the first `fill` on. The driver has no
/// such samples under MIG, and none of GPUs before Maxwell. An H100 (driver 580) has a sample every
/// 0.2 s, and counts all of the GPU's work in these 0.2 s for the process that ran last. Threads:
/// one at a time.
class EngineTimes {
 public:
  /// Sets `engine_time` of each process, if the driver reports it. The driver is asked less often
  /// if that takes long.
  void fill(const Api& api, Handle handle, const TimeSource& clock,
            std::vector<DeviceProcess>& processes);

 private:
  /// New samples, if it is time to ask.
  std::vector<ProcessUtilization> ask(const Api& api, Handle handle, const TimeSource& clock);
  void add(const std::vector<ProcessUtilization>& samples, TimePoint now);

  CallSpacing spacing_{250};  ///< 0.4 % of the time
  bool answers_ = false;
  std::map<pid_t, std::chrono::nanoseconds> times_;
  std::uint64_t newest_us_ = 0;            ///< of the samples so far, in the driver's time; 0: none
  TimePoint last_new_ = TimePoint::min();  ///< when the newest was seen first
};

}  // namespace wattle::nvml
