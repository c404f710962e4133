// CPU energy counters (RAPL) through the kernel's powercap tree, /sys/class/powercap.
// Facts, quirks and where they come from: docs/sensors/powercap.md.
#pragma once

#include <set>

#include "sensors/sensor.hpp"

namespace wattle::powercap {

/// One sensor for each package (with the zones inside it) and for each platform zone.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken = {});

}  // namespace wattle::powercap
