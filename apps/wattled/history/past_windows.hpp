// From windows of the past to numbers, and how they join those of the present run.
#pragma once

#include <span>
#include <vector>

#include "devices/power_columns.hpp"
#include "history/past_history.hpp"
#include "sampling/energy_figure.hpp"

namespace wattle::daemon {

/// The energy of two windows, the second of which starts where the first one ends.
[[nodiscard]] EnergyFigure joined_windows(const EnergyFigure& first, const EnergyFigure& second);

/// The energy from `begin` to `end` (stored times). What no run of the daemon read is unknown.
[[nodiscard]] EnergyFigure past_energy(const std::vector<PastEra>& eras, TimePoint begin,
                                       TimePoint end);

/// The power of each column (stored times).
[[nodiscard]] std::vector<ColumnPower> past_columns(const std::vector<PastEra>& eras,
                                                    const TimeColumns& columns);

/// From the gauge where it shows power, as in the plots of runs; else from the counter, which may
/// be null.
[[nodiscard]] std::vector<ColumnPower> best_columns(const History* counter,
                                                    std::span<const History* const> gauges,
                                                    const TimeColumns& columns);

}  // namespace wattle::daemon
