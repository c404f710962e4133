// What the machine spent while a tracker was started, for its reports.
#pragma once

#include <vector>

#include "sampling/measured_window.hpp"
#include "sensors/sensor.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// `refused`: what the window lacks, and why.
[[nodiscard]] TrackedEnergy tracked_energy(const MeasuredWindow& window,
                                           const std::vector<SensorRefusal>& refused,
                                           TimePoint began, TimePoint ended);

}  // namespace wattle
