#include "client/update.hpp"

#include <algorithm>

namespace wattle::client {
namespace {

double latest_of(const PowerReadings& server) noexcept {
  double latest = 0.0;
  for (const auto& [gpu, time_s] : server.gpu_time_s) latest = std::max(latest, time_s);
  for (const auto& [cpu, time_s] : server.cpu_time_s) latest = std::max(latest, time_s);
  return latest;
}

}  // namespace

View::View(const std::vector<Server>& servers) {
  for (const Server& server : servers) {
    PowerReadings& readings = readings_[server.endpoint];
    readings.clock_offset_uncertainty_s = std::numeric_limits<double>::infinity();
    servers_.push_back(&readings);  // a map's values do not move
  }
}

View::DeviceValues View::place_of(PowerReadings& server, const Slot& slot) {
  if (slot.type == DeviceType::gpu) {
    return {.time_s = &server.gpu_time_s[slot.device], .gpu = &server.gpu_power[slot.device]};
  }
  return {.time_s = &server.cpu_time_s[slot.device], .cpu = &server.cpu_power[slot.device]};
}

void View::forget(PowerReadings& server, const Slot& slot) {
  if (slot.type == DeviceType::gpu) {
    server.gpu_power.erase(slot.device);
    server.gpu_time_s.erase(slot.device);
  } else {
    server.cpu_power.erase(slot.device);
    server.cpu_time_s.erase(slot.device);
  }
  server.timestamp_s = latest_of(server);
}

void View::apply(const Update& update, const Slot& slot) {
  if (update.slot >= places_.size()) places_.resize(update.slot + 1);
  DeviceValues& place = places_[update.slot];
  PowerReadings& server = *servers_[slot.server];
  if (update.is_gone) {
    forget(server, slot);
    place = {};
    return;
  }
  if (place.time_s == nullptr) place = place_of(server, slot);
  const double time_before_s = std::exchange(*place.time_s, update.timestamp_s);
  if (place.gpu != nullptr) {
    *place.gpu = Watts(update.power_w);
  } else {
    *place.cpu = {.cpu = known_power(update.power_w), .dram = known_power(update.dram_w)};
  }
  if (update.timestamp_s >= server.timestamp_s) {
    server.timestamp_s = update.timestamp_s;
  } else if (time_before_s == server.timestamp_s) {
    // The daemon's clock was set back: the latest may be another device's now.
    server.timestamp_s = latest_of(server);
  }
}

}  // namespace wattle::client
