// Cells of the tables that nvidia-smi and the run monitor write.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "run_monitor/tables/plain_number.hpp"

namespace wattle {

/// The content of a cell: a number from 0 on, a sign that there is none ("[N/A]", "-"), or neither.
/// One word: tables have millions of cells. Threads: a value type.
class Cell {
 public:
  /// A sign that there is no number.
  constexpr Cell() noexcept = default;
  /// `number`: from 0 on.
  explicit constexpr Cell(double number) noexcept : coded_(number) {}
  [[nodiscard]] static constexpr Cell bad() noexcept { return Cell(kBad); }

  [[nodiscard]] constexpr bool is_number() const noexcept { return coded_ >= 0.0; }
  [[nodiscard]] constexpr bool is_missing() const noexcept { return coded_ == kMissing; }
  [[nodiscard]] bool is_bad() const noexcept { return std::isnan(coded_); }
  /// The number; only where there is one.
  [[nodiscard]] constexpr double value() const noexcept { return coded_; }
  /// False for a number above `most`, and for a bad cell.
  [[nodiscard]] constexpr bool is_at_most(double most) const noexcept { return coded_ <= most; }
  /// The number, or `other` where there is none.
  [[nodiscard]] constexpr double value_or(double other) const noexcept {
    return is_number() ? coded_ : other;
  }

  friend bool operator==(const Cell& one, const Cell& other) noexcept {
    return one.coded_ == other.coded_ || (one.is_bad() && other.is_bad());
  }

 private:
  static constexpr double kMissing = -1.0;
  // It is above no number and below none.
  static constexpr double kBad = std::numeric_limits<double>::quiet_NaN();
  double coded_ = kMissing;
};

/// Numbers are decimal, finite and not negative, whatever the locale, and may have a unit after a
/// blank ("8500 MiB", "60 %"), which does not matter.
[[nodiscard]] Cell parse_any_cell(std::string_view text) noexcept;

/// The same. `has_room`: eight bytes that end where `text` does may be read, whatever they are;
/// then plain numbers are read fast.
[[nodiscard]] inline Cell parse_cell(std::string_view text, bool has_room = false) noexcept {
  const double number = has_room ? plain_cell(text) : kNotPlain;
  return number >= 0.0 ? Cell(number) : parse_any_cell(text);
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
  return value > kMostOfACell ? Cell::bad() : Cell(value);
}

/// In the unit of the figures. A unit in the cell counts; it is bad if the header states another
/// one.
[[nodiscard]] Cell parse_any_cell(std::string_view text, const CellUnit& unit) noexcept;

/// The same; `has_room` as above.
[[nodiscard]] inline Cell parse_cell(std::string_view text, const CellUnit& unit,
                                     bool has_room = false) noexcept {
  const double number = has_room ? plain_cell(text) : kNotPlain;
  return number >= 0.0 ? cell_in(unit.factor, number) : parse_any_cell(text, unit);
}

/// False for what cannot be a part of a whole in percent: torn lines make such numbers.
[[nodiscard]] inline bool is_share(const Cell& cell) noexcept { return cell.is_at_most(100.0); }

}  // namespace wattle
