// Cells for what recordings of real boards showed: gauges that nobody has described, that lag or
// freeze, lanes of 10 to 50 Hz, jobs that are shorter than their window, loads that swing widely.
#pragma once

#include <vector>

#include "lab/cell.hpp"

namespace wattle::lab {

void add_board_cells(std::vector<Cell>& cells);

}  // namespace wattle::lab
