// The answer to /api/v1/energy.
#pragma once

#include <string_view>

#include "energy_history.hpp"
#include "response.hpp"

namespace wattle::daemon {

/// The energy of the window that `query` names (`from` and `to`, Unix seconds, both needed); 400
/// where it names none, 404 where nothing is remembered: `history` is null. `is_coarse`: ends and
/// energies of CPUs are rounded down to whole seconds and joules. Threads: the loop's.
[[nodiscard]] Response energy_answer(EnergyHistory* history, std::string_view query,
                                     bool is_coarse);

}  // namespace wattle::daemon
