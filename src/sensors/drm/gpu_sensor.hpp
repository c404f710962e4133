// Reads one GPU.
#pragma once

#include <memory>

#include "sensors/drm/gpu.hpp"
#include "sensors/drm/gpu_processes.hpp"
#include "sensors/sensor.hpp"

namespace wattle::drm {

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
