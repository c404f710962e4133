// Names that have to share a column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wattle::app {

/// Shortens the names that are wider than `width` columns: `mark` replaces a part in the middle, or
/// elsewhere if that makes more names different.
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& names,
                                                   std::size_t width, std::string_view mark);

}  // namespace wattle::app
