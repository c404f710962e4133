// From windows of the past to numbers, and how they join those of the present run.
#pragma once

#include <vector>

#include "devices/power_columns.hpp"
#include "history/past_history.hpp"
#include "sampling/energy_sum.hpp"

namespace wattle::daemon {

/// The energy from `begin` to `end` (stored times). What no run of the daemon read is unknown.
[[nodiscard]] WindowSum past_energy(const std::vector<PastEra>& eras, TimePoint begin,
                                    TimePoint end);

/// Makes answers of long columns cheap. After the last chunk.
void prepare_columns(PastHistory& past);

/// The power of each column (stored times).
[[nodiscard]] std::vector<ColumnPower> past_columns(const std::vector<PastEra>& eras,
                                                    const TimeColumns& columns);

}  // namespace wattle::daemon
