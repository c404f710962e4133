// A drawing with axes, as a page has it.
#pragma once

#include <string>

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

}  // namespace wattle::html
