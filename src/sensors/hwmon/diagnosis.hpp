// Why a chip or a battery is not measured.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "sensors/hwmon/device.hpp"
#include "sensors/sensor.hpp"

namespace wattle::hwmon {

/// No chip shows power or energy, and there is no battery: nothing is amiss.
[[nodiscard]] SensorRefusal nothing_found(const System& system);
[[nodiscard]] SensorRefusal unlisted(const std::string& folder, int error);
/// `error`: 0 for text that is no number.
[[nodiscard]] SensorRefusal unreadable(const Channel& channel, const std::string& path, int error);
/// The channels of `device` were not read by the deadline.
[[nodiscard]] SensorRefusal no_answer(const HwmonDevice& device, std::chrono::nanoseconds deadline);
[[nodiscard]] SensorRefusal no_power(const Domain& battery, const std::filesystem::path& supply);
[[nodiscard]] SensorRefusal not_discharging(const Domain& battery, const std::string& path,
                                            const std::string& status);

}  // namespace wattle::hwmon
