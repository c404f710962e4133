// CPU energy by way of a daemon on this machine, which may read what this process may not; and why
// a daemon gives none, and what to do about it. Facts: docs/sensors/daemon.md.
#pragma once

#include <set>
#include <string>

#include "sensors/daemon/daemon_sensor.hpp"
#include "sensors/sensor.hpp"

namespace wattle::daemon_source {

/// No answer, or none with counters. `is_default`: nobody named this socket, so that its absence is
/// worth little. `has_token`: one was shown.
[[nodiscard]] SensorRefusal not_answered(const Reply& reply, const std::string& path,
                                         bool is_default, bool has_token);
/// An answer without any CPU.
[[nodiscard]] SensorRefusal no_cpus(const std::string& path);
/// A path that no socket can have.
[[nodiscard]] SensorRefusal no_path(const std::string& path);
/// A token that no request may carry.
[[nodiscard]] SensorRefusal no_token();

/// One sensor for all packages and their memory. Where `taken` has a package, nobody is asked: who
/// may read one reads the others too. Waits at most a second, where somebody listens and does not
/// answer.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken = {});

}  // namespace wattle::daemon_source
