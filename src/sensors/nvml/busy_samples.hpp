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
/// an H100 keeps one for each 0.2 s of the last 14 s, where nvmlDeviceGetUtilizationRates shows 0.1
/// s of each 0.2 s. The driver has none under MIG. Threads: one at a time.
class BusySamples {
 public:
  /// Since the first call. Absent where the driver does not have them. The driver is asked less
  /// often if that takes long (CallSpacing).
  [[nodiscard]] std::optional<BusyTime> until_now(const Api& api, Handle handle,
                                                  const Clock& clock);

 private:
  bool ask(const Api& api, Handle handle);

  BusyTime sum_;
  std::uint64_t newest_us_ = 0;  ///< of the samples that were added, in the driver's time
  bool answers_ = false;
  CallSpacing spacing_;
};

}  // namespace wattle::nvml
