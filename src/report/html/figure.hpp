// What drawings with axes have in common.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

namespace wattle::html {

/// What is seen of all values.
struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) noexcept {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Not finite where there are no values.
  [[nodiscard]] double length() const noexcept { return high - low; }
};

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

}  // namespace wattle::html
