// Drawings with axes, as a page has them: plots of power, of a quantity over another one, and of
// values of several things. The coordinates of a plot of power are the values themselves, which the
// script of the page reads from it: web/src/columns.ts.
#pragma once

#include <cmath>
#include <string>

#include "report/html/page.hpp"

namespace wattle::html {

/// A drawing and the texts around it.
struct Figure {
  std::string id;          ///< of the page's elements
  std::string attributes;  ///< of the <figure>, as they are written
  std::string name;
  std::string summary;
  int width = 0;  ///< of the drawing, in units that are pixels where it is as wide as planned
  int height = 0;
  std::string drawing;  ///< elements of SVG; empty: there is nothing to draw
};
[[nodiscard]] std::string text_of(const Figure& figure);

/// 1, 2 or 5 times a power of ten.
struct RoundStep {
  int factor = 1;
  double power = 1.0;

  [[nodiscard]] double value() const noexcept { return factor * power; }
};

/// The smallest such step so that at most `most` of them cover `range`. Of a range that is none (0,
/// not finite): 1.
[[nodiscard]] inline RoundStep round_step(double range, int most) noexcept {
  if (!(range > 0.0) || !std::isfinite(range)) return {};
  for (double power = std::pow(10.0, std::floor(std::log10(range / most)));; power *= 10.0) {
    for (const int factor : {1, 2, 5}) {
      // A range of whole steps is covered by these, whatever the division is off by.
      if (std::ceil(range / (factor * power) - 1e-9) <= most) return {factor, power};
    }
  }
}

/// A <figure>, drawn whole without the script. `id`: of the page's elements.
[[nodiscard]] std::string figure_of(const CurvePlot& plot, const std::string& id);

/// A <figure>. `id`: of the page's elements.
[[nodiscard]] std::string figure_of(const DotPlot& plot, const std::string& id);

/// A <figure>, with the values also as a table. `id`: of the page's elements.
[[nodiscard]] std::string figure_of(const PowerPlot& plot, const std::string& id);

/// "0.25 s", "12 s", "3:05", "1:02:30": a time within `longest`, to the place of `step`.
[[nodiscard]] std::string time_label(Seconds time, Seconds step, Seconds longest);

}  // namespace wattle::html
