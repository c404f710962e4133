// The titles of a table's columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "run_monitor/tables/table_cell.hpp"

namespace wattle {

/// "power.draw [W]", "power.draw (W)", "power.draw".
struct ColumnTitle {
  std::string name;  ///< small letters
  std::string_view unit{};
  bool has_unit = false;
};

[[nodiscard]] ColumnTitle column_title(std::string_view cell);

/// The unit of a column of that title; that of the figures where the title has none. Absent for one
/// that is not known.
[[nodiscard]] std::optional<CellUnit> unit_of(const ColumnTitle& title,
                                              CellQuantity quantity) noexcept;

/// "power.draw [hp]: the unit is not known (known are W, mW, kW)".
[[nodiscard]] std::string unknown_unit_text(const ColumnTitle& title, CellQuantity quantity);

}  // namespace wattle
