// Why a daemon gives no CPU energy, and what to do about it.
#pragma once

#include <string>

#include "sensors/daemon/connection.hpp"
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

}  // namespace wattle::daemon_source
