// For how long a GPU worked.
#pragma once

#include <cstdint>
#include <optional>

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

}  // namespace wattle::nvml
