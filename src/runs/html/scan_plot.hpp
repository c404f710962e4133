// The cost of a benchmark over a scanned parameter.
#pragma once

#include <optional>

#include "report/html/page.hpp"
#include "runs/bench/bench_record.hpp"

namespace wattle::html {

/// The mean energy, or the time where the energy of a command is unknown, over the first parameter
/// whose values are numbers, at least three of them; a curve for each combination of the others.
/// Absent where there is no such parameter, or there are too many curves to distinguish.
[[nodiscard]] std::optional<CurvePlot> scan_plot(const BenchRecord& bench);

}  // namespace wattle::html
