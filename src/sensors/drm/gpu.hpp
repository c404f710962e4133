// The channels of one GPU, found by reading its files, never by its name; and the sensor that reads
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/drm/card.hpp"
#include "sensors/drm/gpu_processes.hpp"
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

/// Never wakes a suspended GPU: channels that would wake it return `retry`. Threads: any, several
/// at once; each may stay in the driver for as long as that pleases.
class DrmGpuSensor final : public Sensor {
 public:
  DrmGpuSensor(DrmGpu gpu, std::shared_ptr<OpenGpuFiles> open, const TimeSource& clock)
      : gpu_(std::move(gpu)), open_(std::move(open)), clock_(clock) {}

  [[nodiscard]] std::span<const Channel> channels() const noexcept override {
    return gpu_.channels;
  }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &gpu_.info; }
  /// amdgpu asks the GPU's firmware, which takes from tens of microseconds to seconds.
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  [[nodiscard]] std::optional<std::vector<DeviceProcess>> processes() override;

 private:
  const DrmGpu gpu_;
  const std::shared_ptr<OpenGpuFiles> open_;
  const TimeSource& clock_;
};

}  // namespace wattle::drm
