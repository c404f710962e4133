// Cells of the tables that nvidia-smi and the run monitor write.
#pragma once

#include <cstdint>
#include <string_view>

namespace wattle {

/// What stands in a cell: a number, a sign that there is none ("[N/A]", "-"), or neither.
struct Cell {
  enum class Kind : std::uint8_t { number, missing, bad };
  Kind kind = Kind::missing;
  double value = 0.0;

  [[nodiscard]] bool is_number() const noexcept { return kind == Kind::number; }
  [[nodiscard]] bool is_bad() const noexcept { return kind == Kind::bad; }
};

/// Numbers are decimal, finite and not negative, whatever the locale, and may have a unit after a
/// blank ("8500 MiB", "60 %").
[[nodiscard]] Cell parse_cell(std::string_view text) noexcept;

/// False for what cannot be a part of a whole in percent: torn lines make such numbers.
[[nodiscard]] inline bool is_share(const Cell& cell) noexcept {
  return !cell.is_bad() && cell.value <= 100.0;
}

}  // namespace wattle
