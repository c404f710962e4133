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

/// Calls `read`, which returns whether it has all that it read: up to three times, as a driver's
/// first call can be slow, and any can fail. Returns the duration of the shortest call that had
/// all, or of the shortest where none had.
template <class Read>
[[nodiscard]] std::chrono::nanoseconds cost_of(Read read) {
  constexpr auto kNone = std::chrono::nanoseconds::max();
  auto complete = kNone;
  auto any = kNone;
  for (int tries = 1; tries <= 3; ++tries) {
    const Clock::time_point before = Clock::now();
    const bool has_all = read();
    const std::chrono::nanoseconds cost = Clock::now() - before;
    any = std::min(any, cost);
    if (!has_all) continue;
    const bool is_certain = cost <= kCostlyRead || complete != kNone;
    complete = std::min(complete, cost);
    if (is_certain) break;
  }
  return complete != kNone ? complete : any;
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
