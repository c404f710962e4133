// The batteries under /sys/class/power_supply: while one discharges, its power is that of the whole
// machine.
#pragma once

#include <filesystem>

#include "sensors/hwmon/device.hpp"

namespace wattle::hwmon {

/// Adds a power supply if it is a battery of the machine that discharges; one that does not now, or
/// shows no power, is refused. Adds nothing for mains, USB ports, and the batteries of mice.
void add_battery(const std::filesystem::path& supply, Devices& all);

}  // namespace wattle::hwmon
