// The channels of one GPU: found by reading it, never by its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sensors/nvml/api.hpp"
#include "sensors/nvml/query.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

/// Where a channel's value comes from.
struct ChannelOrigin {
  Query query;
  std::uint8_t item;
};

/// A GPU as it was found. Without channels where nothing of it can be read.
struct NvmlGpu {
  std::uint32_t index = 0;
  Handle handle = nullptr;
  DeviceInfo info{};
  std::vector<Channel> channels{};
  std::vector<ChannelOrigin> origins{};  ///< one for each channel
  std::vector<SensorRefusal> refused{};
};

/// Asks the GPU of that number for everything, up to three times: what fails now and then is kept.
/// Blocks for as long as the driver does. `driver`: its version.
[[nodiscard]] NvmlGpu examine(const Api& api, std::uint32_t index, const std::string& driver);

}  // namespace wattle::nvml
