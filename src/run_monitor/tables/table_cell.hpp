// Cells of the tables that nvidia-smi and the run monitor write.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "run_monitor/tables/plain_number.hpp"

namespace wattle {

/// The content of a cell: a number, a sign that there is none ("[N/A]", "-"), or neither.
struct Cell {
  enum class CellKind : std::uint8_t { number, missing, bad };
  CellKind kind = CellKind::missing;
  double value = 0.0;

  [[nodiscard]] bool is_number() const noexcept { return kind == CellKind::number; }
  [[nodiscard]] bool is_bad() const noexcept { return kind == CellKind::bad; }
};

/// Numbers are decimal, finite and not negative, whatever the locale, and may have a unit after a
/// blank ("8500 MiB", "60 %"), which does not matter.
[[nodiscard]] Cell parse_any_cell(std::string_view text) noexcept;

/// The same. `has_room`: eight bytes that end where `text` does may be read, whatever they are;
/// then plain numbers are read fast.
[[nodiscard]] inline Cell parse_cell(std::string_view text, bool has_room = false) noexcept {
  Cell cell{.kind = Cell::CellKind::number};
  return has_room && take_plain_cell(text, cell.value) ? cell : parse_any_cell(text);
}

/// The quantity of a column.
enum class CellQuantity : std::uint8_t { share, memory, power };

/// From a unit to that of the figures: %, MiB, W.
struct UnitFactor {
  double times = 1.0;
  double over = 1.0;
  [[nodiscard]] double of(double value) const noexcept {
    // Most units are those of the figures, and a division by 1 takes as long as any other.
    return over == 1.0 ? value * times : value * times / over;
  }
  friend bool operator==(const UnitFactor&, const UnitFactor&) = default;
};

/// Absent for a unit that is not one of the quantity, or that has several meanings ("KB").
[[nodiscard]] std::optional<UnitFactor> factor_of(CellQuantity quantity,
                                                  std::string_view unit) noexcept;

/// The unit of a column's numbers.
struct CellUnit {
  CellQuantity quantity = CellQuantity::share;
  UnitFactor factor{};
  bool is_stated = false;  ///< by the header
};

/// No device has as much of anything as this, and sums of less stay finite.
inline constexpr double kMostOfACell = 1e15;

/// A number in the unit of the figures.
[[nodiscard]] inline Cell cell_in(const UnitFactor& factor, double number) noexcept {
  const double value = factor.of(number);
  if (value > kMostOfACell) return {.kind = Cell::CellKind::bad};
  return {.kind = Cell::CellKind::number, .value = value};
}

/// In the unit of the figures. A unit in the cell counts; it is bad if the header states another
/// one.
[[nodiscard]] Cell parse_any_cell(std::string_view text, const CellUnit& unit) noexcept;

/// The same; `has_room` as above.
[[nodiscard]] inline Cell parse_cell(std::string_view text, const CellUnit& unit,
                                     bool has_room = false) noexcept {
  double number = 0.0;
  if (!has_room || !take_plain_cell(text, number)) return parse_any_cell(text, unit);
  return cell_in(unit.factor, number);
}

/// False for what cannot be a part of a whole in percent: torn lines make such numbers.
[[nodiscard]] inline bool is_share(const Cell& cell) noexcept {
  return !cell.is_bad() && cell.value <= 100.0;
}

}  // namespace wattle
