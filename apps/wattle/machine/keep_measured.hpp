// The part of what `wattle sensors --measure` found that later runs use.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/measure.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {

/// The kinds of the sensors of energy and power, each beside its channel (`sensor_kind`).
[[nodiscard]] std::vector<std::pair<Channel, std::string>> sensor_kinds(
    const std::vector<Survey>& surveys);

/// Keeps how often counters are renewed, what gauges see, and whether counters see more, for later
/// runs: what was kept of others stays. What is printed of that; empty where nothing was found.
[[nodiscard]] std::string keep_measured(const std::vector<MeasuredChannel>& measured,
                                        const std::vector<std::pair<Channel, std::string>>& kinds);

}  // namespace wattle::app
