// The answer to /api/v1/energy.
#pragma once

#include <chrono>
#include <string_view>

#include "energy_history.hpp"
#include "response.hpp"

namespace wattle::daemon {

/// The energy of the window that `query` names (`from` and `to`, Unix seconds, both needed); 400
/// where it names none, 404 where nothing is remembered: `history` is null. `public_period`: ends
/// are rounded down to multiples of it, and counters of CPUs to its quantum (see public_cpu.hpp);
/// 0: nothing is. Throws `QueryFault`. Threads: the loop's.
[[nodiscard]] Response energy_answer(EnergyHistory* history, std::string_view query,
                                     std::chrono::milliseconds public_period);

}  // namespace wattle::daemon
