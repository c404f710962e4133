// Everything public of the library `wattle::wattle`.
#pragma once

#include <string_view>

#include "wattle/clock.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/energy_trace.hpp"
#include "wattle/error.hpp"
#include "wattle/estimate.hpp"
#include "wattle/export.hpp"
#include "wattle/handlers.hpp"
#include "wattle/hardware_monitor.hpp"
#include "wattle/mark.hpp"
#include "wattle/power_monitor.hpp"
#include "wattle/refusal.hpp"
#include "wattle/run_log.hpp"
#include "wattle/system.hpp"
#include "wattle/tracker.hpp"
#include "wattle/units.hpp"
#include "wattle/unix_times.hpp"
#include "wattle/work_units.hpp"

namespace wattle {

// In components of their own. Used without their header, a compiler's error shows the line here:
class PowerStream;   // #include <wattle/power_stream.hpp>, link wattle::stream
class DaemonClient;  // #include <wattle/daemon_client.hpp>, link wattle::stream
class MongoHandler;  // #include <wattle/mongodb.hpp>, link wattle::mongodb

/// The library's version, "0.1.0": major, minor, patch (semver.org).
[[nodiscard]] WATTLE_EXPORT std::string_view version() noexcept;

}  // namespace wattle
