// A benchmark as a page.
#pragma once

#include "report/html/page.hpp"
#include "runs/bench/bench_record.hpp"

namespace wattle::html {

/// All that the text has, the runs as plots, and the comparison with its intervals.
[[nodiscard]] Page page_of(const BenchRecord& bench);

}  // namespace wattle::html
