// The answer to /api/v1/power.
#pragma once

#include <chrono>
#include <string_view>

#include "devices/energy_history.hpp"
#include "http/response.hpp"

namespace wattle::daemon {

/// The power from `from` to `to` (Unix seconds; both required in `query`) in at most `columns`
/// columns (1 to 1000; default: 360). 400 for an invalid window or number; 404 if `history` is
/// null. `public_period` > 0: columns start at multiples of it, and CPU power is that of counters
/// rounded to its quantum (see public_cpu.hpp). The cost is bounded: at most 4 windows per column
/// and domain. Throws `QueryFault`. Threads: the loop's.
[[nodiscard]] Response power_answer(EnergyHistory* history, std::string_view query,
                                    std::chrono::milliseconds public_period);

}  // namespace wattle::daemon
