// Power rails, meters and batteries that the kernel shows to every user: /sys/class/hwmon and
// /sys/class/power_supply. Facts, quirks and where they come from: docs/sensors/hwmon.md.
#pragma once

#include <chrono>
#include <functional>
#include <set>

#include "sensors/hwmon/chip_sensor.hpp"
#include "sensors/sensor.hpp"

namespace wattle::hwmon {

/// One sensor for each chip or battery that shows anything. They are opened and read at the same
/// time, each in a thread of its own; without such devices there is no thread. One that has not
/// answered by the deadline is refused. No other interface shows these domains, so none is `taken`.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken);
/// `open`: what is done in those threads.
[[nodiscard]] Survey probe_within(
    const System& system, const TimeSource& clock, std::chrono::nanoseconds deadline,
    const std::function<OpenDevice(const HwmonDevice&)>& open = open_device);

}  // namespace wattle::hwmon
