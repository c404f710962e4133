// Devices that a probe examines at the same time, each in a thread of its own.
#pragma once

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle {

/// How long a probe waits for the drivers, for all devices of an interface together.
inline constexpr std::chrono::nanoseconds kProbeDeadline = std::chrono::seconds(2);

/// A reading that takes longer than this in each try belongs on the slow lane.
inline constexpr std::chrono::nanoseconds kCostlyRead = std::chrono::milliseconds(1);

/// Calls `read`, which returns whether it has all that it read: three times if it does not, else
/// twice if the first call is slow, which a driver's first can be. Returns the duration of the
/// shortest call.
template <class Read>
[[nodiscard]] std::chrono::nanoseconds cost_of(Read read) {
  using Clock = std::chrono::steady_clock;
  auto cost = std::chrono::nanoseconds::max();
  bool has_all = false;
  for (int i = 0; i < 3 && !(has_all && (cost <= kCostlyRead || i == 2)); ++i) {
    const Clock::time_point before = Clock::now();
    has_all = read();
    cost = std::min<std::chrono::nanoseconds>(cost, Clock::now() - before);
  }
  return cost;
}

/// Adds to `survey` the refusals of all devices, and a sensor for each that has channels.
/// `no_answer` makes the refusal of a device, by its index, that did not answer in time.
template <class Device, class NoAnswer, class MakeSensor>
void add_examined(Survey& survey, std::vector<std::optional<Device>> devices, NoAnswer no_answer,
                  MakeSensor make_sensor) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i]) {
      survey.refused.push_back(no_answer(i));
      continue;
    }
    std::ranges::move(devices[i]->refused, std::back_inserter(survey.refused));
    if (devices[i]->channels.empty()) continue;
    survey.sensors.push_back(make_sensor(*std::move(devices[i])));
  }
}

}  // namespace wattle
