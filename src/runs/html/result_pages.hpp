// Benchmarks, comparisons of recorded runs and reports of many runs as pages. Each page has all
// that the text has, and plots.
#pragma once

#include <vector>

#include "report/html/page.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/compared_runs.hpp"
#include "runs/job_report.hpp"

namespace wattle::html {

/// All that the text has, the runs as plots, and the comparison with its intervals.
[[nodiscard]] Page page_of(const BenchRecord& bench);

/// All that the text has, the runs as plots, and the changes with their intervals.
[[nodiscard]] Page page_of(const RunSource& a, const RunSource& b,
                           const std::vector<ComparedRuns>& all);

/// All that the text has, every run, and power over time where it was saved. `reports`: at least
/// one.
[[nodiscard]] Page page_of(const std::vector<JobReport>& reports);

}  // namespace wattle::html
