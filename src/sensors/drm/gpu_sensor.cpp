#include "sensors/drm/gpu_sensor.hpp"

#include <algorithm>

#include "sensors/read_status.hpp"

namespace wattle::drm {

void GpuSensor::read(std::span<Reading> readings) noexcept { read_some(~ChannelSet(), readings); }

void GpuSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  const bool asleep = is_asleep(gpu_.runtime_status);
  TimePoint before = clock_.now();
  for (std::size_t i = 0; i < std::min(readings.size(), gpu_.sources.size()); ++i) {
    if (!wanted[i]) continue;
    const Source& source = gpu_.sources[i];
    if (asleep && source.wakes) {
      readings[i] = {.at = before, .status = ReadStatus::retry};
      continue;
    }
    const Value value = read_value(source);
    const TimePoint after = clock_.now();
    const auto half_width = (after - before) / 2;
    readings[i] = {.at = before + half_width,
                   .half_width = half_width,
                   .raw = value.raw.value_or(0),
                   .status = value.raw ? ReadStatus::ok : status_of(value.error)};
    before = after;
  }
}

std::optional<std::vector<DeviceProcess>> GpuSensor::processes() {
  if (gpu_.nodes.empty()) return std::nullopt;  // its nodes could not be listed
  const auto open = open_->list(clock_.now());
  if (!open) return std::nullopt;
  return users_of(*open, gpu_.nodes, gpu_.info.pci_address, open_->procfs());
}

}  // namespace wattle::drm
