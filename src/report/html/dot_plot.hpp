// Values of several things on one axis, as SVG.
#pragma once

#include <string>

#include "report/html/page.hpp"

namespace wattle::html {

/// A <figure>. `id`: of the page's elements.
[[nodiscard]] std::string figure_of(const DotPlot& plot, const std::string& id);

}  // namespace wattle::html
