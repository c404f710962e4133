#include "power/watched_sensor.hpp"

#include <algorithm>

namespace wattle {

void WatchedSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  ForwardingSensor::read_some(wanted, readings);
  const std::span<const Channel> channels = channels_;
  bool is_there = false;
  bool is_gone = false;
  for (std::size_t i = 0; i < std::min(channels.size(), wanted.size()); ++i) {
    if (!wanted[i]) continue;
    is_gone = is_gone || readings[i].status == ReadStatus::gone;
    is_there = is_there || readings[i].status != ReadStatus::gone;
    const auto domain = power_domain_of(channels[i]);
    if (domain) note(watches_[place_of(*domain)], readings[i], channels[i].update.mean);
  }
  if (is_gone || is_there) gone_.store(is_gone, std::memory_order_relaxed);
}

void WatchedSensor::note(ChannelWatch& watch, const Reading& reading,
                         std::chrono::nanoseconds update) noexcept {
  if (reading.status == ReadStatus::retry) watch.failed.fetch_add(1, std::memory_order_relaxed);
  if (reading.status != ReadStatus::ok) return;
  if (reading.raw == 0) {
    if (watch.was_above) watch.zero_since = reading.at;
    // A sensor that is read more often than it is renewed shows one value several times.
    const bool is_repeated = watch.is_zero && reading.at - watch.zero_since <= update + update / 4;
    watch.is_zero = watch.was_above || is_repeated;
    watch.was_above = false;
    return;
  }
  if (watch.is_zero) watch.zeros.fetch_add(1, std::memory_order_relaxed);
  watch.is_zero = false;
  watch.was_above = true;
}

WatchedSensor::Counts WatchedSensor::counts(PowerDomain domain) const noexcept {
  const ChannelWatch& watch = watches_[place_of(domain)];
  return {.failed = watch.failed.load(std::memory_order_relaxed),
          .zeros = watch.zeros.load(std::memory_order_relaxed)};
}

}  // namespace wattle
