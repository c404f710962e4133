#include "sampling/energy_recorder.hpp"

#include <algorithm>
#include <utility>

namespace wattle {

using std::chrono::nanoseconds;

EnergyRecorder::EnergyRecorder(std::vector<std::unique_ptr<Sensor>> sensors, const Clock& clock)
    : clock_(clock), suspended_(clock.suspended()) {
  for (auto& sensor : sensors) {
    Device device;
    for (const Channel& channel : sensor->channels()) device.windows.emplace_back(channel);
    device.readings.resize(device.windows.size());
    device.sensor = std::move(sensor);
    devices_.push_back(std::move(device));
  }
}

void EnergyRecorder::read(bool ends_interval) noexcept {
  // Two clocks are read one after the other, and the thread may be displaced in between; no
  // machine sleeps for less than this.
  constexpr nanoseconds kShortestSuspend = std::chrono::milliseconds(500);
  const nanoseconds suspended = clock_.suspended();
  const bool was_suspended = suspended - suspended_ >= kShortestSuspend;
  if (was_suspended) suspended_ = suspended;

  for (Device& device : devices_) {
    device.sensor->read(device.readings);
    for (std::size_t i = 0; i < device.windows.size(); ++i) {
      if (was_suspended) device.windows[i].note_suspend();
      device.windows[i].add(device.readings[i], ends_interval);
    }
  }
}

std::optional<Watts> EnergyRecorder::interval_power() const noexcept {
  std::optional<Watts> sum;
  for (const Device& device : devices_) {
    for (std::size_t i = 0; i < device.windows.size(); ++i) {
      if (!counts_in_total(device.sensor->channels()[i].domain.kind())) continue;
      const std::optional<Watts> power = device.windows[i].interval_power();
      if (!power) return std::nullopt;
      sum = sum.value_or(Watts(0.0)) + *power;
    }
  }
  return sum;
}

nanoseconds EnergyRecorder::keeper_period() const noexcept {
  nanoseconds shortest = std::chrono::minutes(1);
  for (const Device& device : devices_) {
    for (const Channel& channel : device.sensor->channels()) {
      shortest = std::min(shortest, wattle::keeper_period(channel.counter));
    }
  }
  return shortest;
}

std::vector<EnergyRecorder::Result> EnergyRecorder::results(TimePoint begin, TimePoint end) const {
  std::vector<Result> results;
  for (const Device& device : devices_) {
    for (std::size_t i = 0; i < device.windows.size(); ++i) {
      results.push_back({device.sensor->channels()[i], device.windows[i].figure(begin, end)});
    }
  }
  std::ranges::sort(results, {}, [](const Result& result) { return result.channel.domain; });
  return results;
}

}  // namespace wattle
