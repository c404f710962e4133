// A plot of power as SVG. Its coordinates are the values themselves, which the script of the page
// reads from it: web/src/columns.ts.
#pragma once

#include <string>

#include "report/html/page.hpp"

namespace wattle::html {

/// A <figure>, with the values also as a table. `id`: of the page's elements.
[[nodiscard]] std::string figure_of(const PowerPlot& plot, const std::string& id);

/// "0.25 s", "12 s", "3:05", "1:02:30": a time within `longest`, to the place of `step`.
[[nodiscard]] std::string time_label(Seconds time, Seconds step, Seconds longest);

}  // namespace wattle::html
