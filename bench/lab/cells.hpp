// The sensors, the loads, and the cells that the lab is made of.
#pragma once

#include <optional>
#include <vector>

#include "lab/cell.hpp"

namespace wattle::lab {

/// Every cell, those of a mode together. `trace`: a recorded load, tried like the others.
[[nodiscard]] std::vector<Cell> all_cells(const std::optional<Waveform>& trace);

}  // namespace wattle::lab
