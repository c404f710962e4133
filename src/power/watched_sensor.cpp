#include "power/watched_sensor.hpp"

#include <algorithm>

namespace wattle {

void WatchedSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  sensor_->read_some(wanted, readings);
  const auto channels = sensor_->channels();
  for (std::size_t i = 0; i < std::min(channels.size(), wanted.size()); ++i) {
    if (!wanted[i]) continue;
    gone_.store(readings[i].status == ReadStatus::gone, std::memory_order_relaxed);
    const auto domain = power_domain_of(channels[i]);
    if (domain) note(watches_[place_of(*domain)], readings[i]);
  }
}

void WatchedSensor::note(Watch& watch, const Reading& reading) noexcept {
  if (reading.status == ReadStatus::retry) watch.failed.fetch_add(1, std::memory_order_relaxed);
  if (reading.status != ReadStatus::ok) return;
  if (reading.raw == 0) {
    watch.is_zero = watch.was_above;
    watch.was_above = false;
    return;
  }
  if (watch.is_zero) watch.zeros.fetch_add(1, std::memory_order_relaxed);
  watch.is_zero = false;
  watch.was_above = true;
}

WatchedSensor::Counts WatchedSensor::counts(PowerDomain domain) const noexcept {
  const Watch& watch = watches_[place_of(domain)];
  return {.failed = watch.failed.load(std::memory_order_relaxed),
          .zeros = watch.zeros.load(std::memory_order_relaxed)};
}

}  // namespace wattle
