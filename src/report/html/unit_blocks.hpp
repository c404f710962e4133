// Units of work on a page.
#pragma once

#include <vector>

#include "report/html/page.hpp"
#include "wattle/work_units.hpp"

namespace wattle::html {

/// The findings about the units of a run: figures of each tag, how they are distributed, how they
/// go with load and work, and where the energy went.
[[nodiscard]] std::vector<Block> unit_blocks(const UnitsReport& report);

}  // namespace wattle::html
