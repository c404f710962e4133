// Cells of the tables that nvidia-smi and the run monitor write.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
/// blank ("8500 MiB", "60 %"), which does not matter. `has_room`: see below.
[[nodiscard]] Cell parse_cell(std::string_view text, bool has_room = false) noexcept;

/// The quantity of a column.
enum class CellQuantity : std::uint8_t { share, memory, power };

/// From a unit to that of the figures: %, MiB, W.
struct UnitFactor {
  double times = 1.0;
  double over = 1.0;
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

/// In the unit of the figures. A unit in the cell counts; it is bad if the header states another
/// one. `has_room`: eight bytes that end where `text` does may be read, whatever they are.
[[nodiscard]] Cell parse_cell(std::string_view text, const CellUnit& unit,
                              bool has_room = false) noexcept;

/// False for what cannot be a part of a whole in percent: torn lines make such numbers.
[[nodiscard]] inline bool is_share(const Cell& cell) noexcept {
  return !cell.is_bad() && cell.value <= 100.0;
}

}  // namespace wattle
