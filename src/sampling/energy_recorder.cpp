#include "sampling/energy_recorder.hpp"

#include <algorithm>
#include <utility>

namespace wattle {

using std::chrono::nanoseconds;

EnergyRecorder::EnergyRecorder(std::vector<std::unique_ptr<Sensor>> sensors, const Clock& clock)
    : clock_(clock), suspended_(clock.suspended()) {
  for (auto& sensor : sensors) {
    Device device;
    const std::span<const Channel> channels = sensor->channels();
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (!channels[i].counts_energy()) continue;
      device.counters.push_back({.channel = i, .window = EnergyWindow(channels[i])});
      device.wanted.set(i);
    }
    if (device.counters.empty()) continue;
    device.readings.resize(channels.size());
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
    device.sensor->read_some(device.wanted, device.readings);
    for (Counter& counter : device.counters) {
      if (was_suspended) counter.window.note_suspend();
      counter.window.add(device.readings[counter.channel], ends_interval);
    }
  }
}

std::optional<Watts> EnergyRecorder::interval_power() const noexcept {
  std::optional<Watts> sum;
  for (const Device& device : devices_) {
    for (const Counter& counter : device.counters) {
      if (!counts_in_total(device.channel_of(counter).domain.kind())) continue;
      const std::optional<Watts> power = counter.window.interval_power();
      if (!power) return std::nullopt;
      sum = sum.value_or(Watts(0.0)) + *power;
    }
  }
  return sum;
}

nanoseconds EnergyRecorder::keeper_period() const noexcept {
  nanoseconds shortest = std::chrono::minutes(1);
  for (const Device& device : devices_) {
    for (const Counter& counter : device.counters) {
      shortest = std::min(shortest, wattle::keeper_period(device.channel_of(counter).counter));
    }
  }
  return shortest;
}

std::vector<EnergyRecorder::Result> EnergyRecorder::results(TimePoint begin, TimePoint end) const {
  std::vector<Result> results;
  for (const Device& device : devices_) {
    for (const Counter& counter : device.counters) {
      results.push_back({device.channel_of(counter), counter.window.figure(begin, end)});
    }
  }
  std::ranges::sort(results, {}, [](const Result& result) { return result.channel.domain; });
  return results;
}

}  // namespace wattle
