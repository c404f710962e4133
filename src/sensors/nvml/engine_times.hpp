// For how long a GPU worked for each process.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.hpp"
#include "base/schedule.hpp"
#include "sensors/nvml/api.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

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
