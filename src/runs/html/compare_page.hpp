// Recorded runs beside others, as a page.
#pragma once

#include <vector>

#include "report/html/page.hpp"
#include "runs/compared_runs.hpp"

namespace wattle::html {

/// All that the text has, the runs as plots, and the changes with their intervals.
[[nodiscard]] Page page_of(const RunSource& a, const RunSource& b,
                           const std::vector<ComparedRuns>& all);

}  // namespace wattle::html
