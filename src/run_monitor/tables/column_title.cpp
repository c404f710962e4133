#include "run_monitor/tables/column_title.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle {

ColumnTitle column_title(std::string_view cell) {
  const std::size_t bracket = std::min(cell.find_first_of("[("), cell.size());
  ColumnTitle title{.name = lower(trimmed(cell.substr(0, bracket)))};
  if (bracket == cell.size()) return title;
  const char end = cell[bracket] == '[' ? ']' : ')';
  title.has_unit = true;
  title.unit = cell.substr(bracket + 1);
  title.unit = trimmed(title.unit.substr(0, title.unit.find(end)));
  return title;
}

std::optional<CellUnit> unit_of(const ColumnTitle& title, CellQuantity quantity) noexcept {
  if (!title.has_unit || title.unit.empty()) return CellUnit{.quantity = quantity};
  const auto factor = factor_of(quantity, title.unit);
  if (!factor) return std::nullopt;
  return CellUnit{.quantity = quantity, .factor = *factor, .is_stated = true};
}

std::string unknown_unit_text(const ColumnTitle& title, CellQuantity quantity) {
  std::string_view known = "%";
  if (quantity == CellQuantity::memory) known = "MiB, MB, GiB, GB, KiB, kB, bytes";
  if (quantity == CellQuantity::power) known = "W, mW, kW";
  return fmt::format("{} [{}]: the unit is unknown (known: {})", printable(title.name, 40),
                     printable(title.unit, 20), known);
}

}  // namespace wattle
