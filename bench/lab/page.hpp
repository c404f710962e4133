// docs/accuracy.md, and its plots: made by the lab alone, but for the text that explains
// what is missed.
#pragma once

#include <string>
#include <vector>

#include "lab/results.hpp"

namespace wattle::lab {

struct PageImage {
  std::string name;  ///< of the file, in the folder images beside the page
  std::string title;
  std::string svg;
};

/// The lines of a plot that nothing is known about are left out, and plots without lines too.
[[nodiscard]] std::vector<PageImage> images_of(const Results& results);

/// Refers to `images`. The same results make the same bytes.
[[nodiscard]] std::string page_of(const Results& results, const std::vector<PageImage>& images);

}  // namespace wattle::lab
