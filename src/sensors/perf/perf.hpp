// CPU energy counters (RAPL) through perf_event_open(2), PMU "power".
// Facts, quirks and where they come from: docs/sensors/perf.md.
#pragma once

#include <set>

#include "sensors/perf/event_sensor.hpp"
#include "sensors/sensor.hpp"

namespace wattle::perf {

/// One sensor for each package, or die where the counters are those of a die. Whether an event may
/// be counted is found out by opening it.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken = {},
                           const SystemCalls& calls = kernel_calls());

}  // namespace wattle::perf
