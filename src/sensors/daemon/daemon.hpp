// CPU energy by way of a daemon on this machine, which may read what this process may not.
// Facts: docs/sensors/daemon.md.
#pragma once

#include <set>

#include "sensors/sensor.hpp"

namespace wattle::daemon_source {

/// One sensor for all packages and their memory. Where `taken` has a package, nobody is asked: who
/// may read one reads the others too. Waits at most a second, where somebody listens and does not
/// answer.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken = {});

}  // namespace wattle::daemon_source
