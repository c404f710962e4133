// A run as a page.
#pragma once

#include <cstddef>

#include "report/html/page.hpp"
#include "report/report.hpp"

namespace wattle::html {

/// Columns of power over time that a page of that number of domains has room for: one per pixel, as
/// wide as it is drawn, and at most 400 kB in all.
[[nodiscard]] std::size_t most_columns(std::size_t domains) noexcept;

/// All that the report as text has, and power over time where `report.energy.course` has it.
[[nodiscard]] Page page_of(const Report& report);

}  // namespace wattle::html
