// A report of many runs as a page.
#pragma once

#include <vector>

#include "report/html/page.hpp"
#include "runs/job_report.hpp"

namespace wattle::html {

/// All that the text has, every run, and power over time where it was saved. `reports`: at least
/// one.
[[nodiscard]] Page page_of(const std::vector<JobReport>& reports);

}  // namespace wattle::html
