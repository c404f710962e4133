#include "sensors/drm/gpu_sensor.hpp"

namespace wattle::drm {

void DrmGpuSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  const bool asleep = is_asleep(gpu_.runtime_status);
  read_in_turn(clock_, wanted, gpu_.sources.size(), readings, [&](std::size_t i) {
    const OpenAttribute& source = gpu_.sources[i];
    return asleep && source.wakes ? AttributeValue{} : read_value(source);
  });
}

std::optional<std::vector<DeviceProcess>> DrmGpuSensor::processes() {
  if (gpu_.nodes.empty()) return std::nullopt;  // its nodes could not be listed
  const auto open = open_->list(clock_.now());
  if (!open) return std::nullopt;
  return users_of(*open, gpu_.nodes, gpu_.info.pci_address, open_->procfs());
}

}  // namespace wattle::drm
