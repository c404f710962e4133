// Energy of a GPU from the powers in a table.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "run_monitor/rounds/row_gaps.hpp"
#include "run_monitor/tables/table_cell.hpp"
#include "sampling/integrate.hpp"
#include "wattle/energy.hpp"

namespace wattle {

/// Powers of rows that may be of a GPU, or of others. Threads: a value type.
struct PossiblePowers {
  bool are_some = false;
  double least_w = 0.0;
  double most_w = 0.0;

  void add(const Cell& power) noexcept {
    if (!power.is_number()) return;
    least_w = are_some ? std::min(least_w, power.value()) : power.value();
    most_w = are_some ? std::max(most_w, power.value()) : power.value();
    are_some = true;
  }
};

/// Each power holds until the next row, but not over a pause. It is summed up, with its
/// uncertainty, as the power of every gauge is (see `gauge_energy`), some hundred rows at a time: a
/// table of any length takes the same memory. Threads: one at a time.
class TablePower {
 public:
  /// A row of `time_ms`; `gap`: since the row before; `between`: in it.
  void add(std::int64_t time_ms, const RowGaps::RowGap& gap, const Cell& power,
           const PossiblePowers& between = {}) {
    const bool follows = gap.kind == RowGaps::GapKind::usual;
    if (!follows || !power.is_number() || rows_.empty() || rows_.size() >= kMostRows) {
      start_or_end(time_ms, gap, power);
    }
    note_change(gap, power, between);
    if (power.is_number()) keep(time_ms, power.value());
    last_ms_ = time_ms;
  }
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
  static constexpr double kWattsPerRaw = 1e-3;

  /// An interval may end, or start, with a row.
  void start_or_end(std::int64_t time_ms, const RowGaps::RowGap& gap, const Cell& power);
  void keep(std::int64_t time_ms, double power_w) {
    if (rows_.empty()) first_ms_ = time_ms;
    rows_.push_back({.since = TimePoint(std::chrono::milliseconds(time_ms - first_ms_)),
                     .raw = raw_of(power_w)});
  }
  /// The nearest integer to a number that is not negative. As `std::llround`, without a call for
  /// each row.
  [[nodiscard]] static std::uint64_t raw_of(double power_w) noexcept {
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): the half is exact for numbers of this size
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(power_w / kWattsPerRaw + 0.5));
  }
  /// The power of the last row held until `end_ms`; a new interval starts.
  void close(std::int64_t end_ms);
  static void add_stretch(PowerSum& sum, std::span<const HeldValue> rows, std::int64_t length_ms);

  /// Notes a power that follows another one, and for how long that one was held in place of rows
  /// that are missing.
  void note_change(const RowGaps::RowGap& gap, const Cell& power,
                   const PossiblePowers& between) noexcept {
    const Cell last = std::exchange(last_, power);
    if (gap.kind != RowGaps::GapKind::usual || !last.is_number() || !power.is_number()) return;
    const double change_w = power.value() - last.value();
    changes2_w2_ += change_w * change_w;
    ++changes_;
    if (gap.length_ms * 2 > gap.usual_ms * 3) note_bridged(gap, last.value(), change_w, between);
  }
  void note_bridged(const RowGaps::RowGap& gap, double last_w, double change_w,
                    const PossiblePowers& between) noexcept;
  /// (2 u)^2 of what was held in place of rows that are missing.
  [[nodiscard]] double bridged2_j2() const noexcept;

  Cell last_{};               ///< the power of the row before
  double changes2_w2_ = 0.0;  ///< sum of squares from row to row
  std::uint64_t changes_ = 0;
  double bridged2_s2_ = 0.0;
  double bridged_j_ = 0.0;       ///< changes times the time in which they may have been
  std::int64_t first_ms_ = 0;    ///< of the interval
  std::vector<HeldValue> rows_;  ///< of the current interval; empty where the power is not known
  std::int64_t last_ms_ = 0;
  PowerSum sum_;
};

}  // namespace wattle
