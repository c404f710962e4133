// How often the sensors of this machine are renewed, what part of the time gauges see, and whether
// counters see more than that, as `wattle sensors --measure` found it: kept for later runs, per
// model and driver.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle {

/// A kind of sensor, and how often it is renewed.
struct KeptUpdate {
  std::string sensor;  ///< see `sensor_kind`
  UpdateInterval update{};
  /// Gauges: the time that a value is the mean of; absent: not found.
  std::optional<std::chrono::nanoseconds> window{};
  CounterFeed feed = CounterFeed::unknown;  ///< counters
};

/// The sensors for which the same interval holds: "nvml energy nvidia_gpu NVIDIA A40 535.104.05".
/// `device`: null where nothing is known of it.
[[nodiscard]] std::string sensor_kind(const Channel& channel, const DeviceInfo* device);

/// One line of JSON, `wattle.updates/1`, and back: what is damaged is left out.
[[nodiscard]] std::string to_json(const std::vector<KeptUpdate>& kept);
[[nodiscard]] std::vector<KeptUpdate> parse_updates(std::string_view text);

/// The file of this machine in the state folder: homes may be shared by machines. Throws `Error`
/// where there is no such folder.
[[nodiscard]] std::string updates_path();
/// The kept updates of this machine; empty if there are none, or they cannot be read.
[[nodiscard]] std::vector<KeptUpdate> kept_updates() noexcept;

/// The same sensors; measured ones have the interval that was found, and gauges without a known
/// window the one that was found.
[[nodiscard]] std::vector<std::unique_ptr<Sensor>> with_kept_updates(
    std::vector<std::unique_ptr<Sensor>> sensors, const std::vector<KeptUpdate>& kept);
/// The same with what is kept of this machine.
[[nodiscard]] Survey with_kept_updates(Survey found);

}  // namespace wattle
