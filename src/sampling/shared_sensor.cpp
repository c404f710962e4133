#include "sampling/shared_sensor.hpp"

#include <algorithm>

namespace wattle {

void SharedSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  SharedDevice& device = *device_;
  const std::size_t count = std::min(device.last.size(), wanted.size());
  ChannelSet asked;
  const TimePoint oldest = device.clock.now() - longest_age_;
  for (std::size_t i = 0; i < count; ++i) {
    asked[i] = wanted[i] && (longest_age_.count() == 0 || device.last[i].at < oldest);
  }
  if (asked.any()) device.sensor->read_some(asked, device.got);
  for (std::size_t i = 0; i < count; ++i) {
    if (asked[i]) device.last[i] = device.got[i];
    if (wanted[i]) readings[i] = device.last[i];
  }
}

}  // namespace wattle
