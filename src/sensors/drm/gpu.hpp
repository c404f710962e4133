// The channels of one GPU: found by reading its files, never by its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/drm/card.hpp"
#include "sensors/read_status.hpp"
#include "sensors/sensor.hpp"

namespace wattle::drm {

/// An attribute that is open for reading.
struct OpenAttribute {
  Fd file;
  /// The driver asks the hardware for it, and wakes it up for that.
  bool wakes = true;
  /// A larger raw integer is no value: drivers pass on what firmware gives for "unknown".
  std::uint64_t most = UINT64_MAX;
};

/// A GPU as it was found. Without channels where nothing of it can be read.
struct DrmGpu {
  DeviceInfo info{};
  std::vector<Channel> channels{};
  std::vector<OpenAttribute> sources{};  ///< one for each channel
  Fd runtime_status{};                   ///< empty: it is taken for awake
  std::vector<std::string> nodes{};      ///< its names under /dev/dri
  std::vector<SensorRefusal> refused{};
};

[[nodiscard]] AttributeValue read_value(const OpenAttribute& source) noexcept;

/// True while the GPU sleeps, or is about to: reading what asks the hardware would wake it up.
[[nodiscard]] bool is_asleep(const Fd& runtime_status) noexcept;

/// Opens what the card shows, and reads each attribute three times where it is awake. Blocks for as
/// long as the driver does.
[[nodiscard]] DrmGpu examine(const GpuCard& card);

}  // namespace wattle::drm
