// Energy of a GPU from the powers in a table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "run_monitor/rounds/row_gaps.hpp"
#include "run_monitor/tables/table_cell.hpp"
#include "sampling/integrate.hpp"
#include "wattle/energy.hpp"

namespace wattle {

/// Powers of rows that may be of a GPU, or of others. Threads: a value type.
struct PossiblePowers {
  std::optional<double> least_w{};
  std::optional<double> most_w{};

  void add(const Cell& power) noexcept {
    if (!power.is_number()) return;
    least_w = std::min(least_w.value_or(power.value), power.value);
    most_w = std::max(most_w.value_or(power.value), power.value);
  }
};

/// Each power holds until the next row, but not over a pause. It is summed up, with its
/// uncertainty, as the power of every gauge is (see `gauge_energy`), some hundred rows at a time: a
/// table of any length takes the same memory. Threads: one at a time.
class TablePower {
 public:
  /// A row of `time_ms`; `gap`: since the row before; `between`: in it.
  void add(std::int64_t time_ms, const RowGaps::RowGap& gap, const Cell& power,
           const PossiblePowers& between = {});
  /// The energy of all rows so far. Absent if no interval has a power.
  [[nodiscard]] MeasuredEnergy energy() const;

 private:
  /// Powers that follow each other without a gap; the last one ends the interval.
  struct PowerSum {
    bool is_known = false;
    double energy_j = 0.0;
    UncertaintySum errors{};
    std::int64_t unknown_ms = 0;
  };
  static constexpr std::size_t kMostRows = 900;

  /// The power of the last row held until `end_ms`; a new interval starts.
  void close(std::int64_t end_ms);
  static void add_stretch(PowerSum& sum, std::span<const HeldValue> rows, std::int64_t length_ms);

  /// Notes a power that follows another one, and for how long that one was held in place of rows
  /// that are missing.
  void note_change(const RowGaps::RowGap& gap, const Cell& power,
                   const PossiblePowers& between) noexcept;
  /// (2 u)^2 of what was held in place of rows that are missing.
  [[nodiscard]] double bridged2_j2() const noexcept;

  std::optional<double> last_w_{};  ///< the power of the row before, if it had one
  double changes2_w2_ = 0.0;        ///< sum of squares from row to row
  std::uint64_t changes_ = 0;
  double bridged2_s2_ = 0.0;
  double bridged_j_ = 0.0;       ///< changes times the time in which they may have been
  std::int64_t first_ms_ = 0;    ///< of the interval
  std::vector<HeldValue> rows_;  ///< of the current interval; empty where the power is not known
  std::int64_t last_ms_ = 0;
  PowerSum sum_;
};

}  // namespace wattle
