// For how long a GPU worked for each process.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sensors/nvml/api.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

/// Sums the driver's samples of each process's utilization (nvmlDeviceGetProcessUtilization): time
/// in which the multiprocessors worked for it, since the first `fill`. The driver has no such
/// samples under MIG, and none of GPUs before Maxwell. Threads: one at a time.
class EngineTimes {
 public:
  /// Sets `engine_time` of each process, if the driver reports it. Call it every few seconds at
  /// most: the driver keeps samples for a short time.
  void fill(const Api& api, Handle handle, TimePoint now, std::vector<DeviceProcess>& processes);

 private:
  std::map<pid_t, std::chrono::nanoseconds> times_;
  std::uint64_t last_sample_us_ = 0;  ///< in the driver's time
  TimePoint last_fill_ = TimePoint::min();
};

}  // namespace wattle::nvml
