// The table of devices on a screen of `wattle top`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/text/text_style.hpp"
#include "top/observation.hpp"
#include "top/power_trails.hpp"
#include "top/units.hpp"

namespace wattle::app {

/// Names of the columns, a row for each device and for the total: at most `most` lines. Devices
/// without room are counted; the total always stays.
[[nodiscard]] std::vector<std::string> device_lines(const TopObservation& seen,
                                                    const PowerTrails& trails, const TopUnit& unit,
                                                    std::size_t width, std::size_t most,
                                                    const TextStyle& style);

}  // namespace wattle::app
