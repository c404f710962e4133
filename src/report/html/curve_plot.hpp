// A quantity over another one, as SVG.
#pragma once

#include <string>

#include "report/html/page.hpp"

namespace wattle::html {

/// A <figure>, drawn whole without the script. `id`: of the page's elements.
[[nodiscard]] std::string figure_of(const CurvePlot& plot, const std::string& id);

}  // namespace wattle::html
