// The node's energy on HPE Cray machines, which the blade's controller counts and every user may
// read: /sys/cray/pm_counters. Facts, quirks and where they come from: docs/sensors/cray.md.
#pragma once

#include <set>

#include "sensors/sensor.hpp"

namespace wattle::cray {

/// One sensor with the node, its CPUs, its memory and its accelerators, if present. No other
/// interface shows these domains, so none is `taken`.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken);

}  // namespace wattle::cray
