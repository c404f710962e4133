// A table that fits a width: columns that have no room are left out, the least important first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/text/text_style.hpp"

namespace wattle::app {

struct TableColumn {
  std::string name{};
  Align align = Align::right;
  unsigned rank = 0;  ///< columns of a low rank stay longest
  /// The least width that is useful; absent: that of the widest cell.
  std::optional<std::size_t> least{};
  bool is_last = false;  ///< takes all the room that is left
  std::vector<std::string> cells{};
};

struct TableLines {
  std::string names{};
  std::vector<std::string> rows{};
  struct ColumnPlace {
    std::size_t column = 0;  ///< among those given
    std::size_t from = 0;
    std::size_t to = 0;
  };
  std::vector<ColumnPlace> places{};  ///< of the columns that are shown, in their order
};

/// No line is wider than `width`. Cells have the characters of the style already.
[[nodiscard]] TableLines lay_out(const std::vector<TableColumn>& columns, std::size_t width);

/// `text` in exactly `width` columns: cut, or with spaces.
[[nodiscard]] std::string in_width(const std::string& text, std::size_t width, Align align);

}  // namespace wattle::app
