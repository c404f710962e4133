// How the rows of some GPUs follow each other in a table that does not name them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers/moments.hpp"

namespace wattle {

/// The evidence in a row about its GPU: power, utilization and clocks are never evidence of whose
/// row it is.
struct RowTrace {
  std::int64_t time_ms = 0;
  /// Lines before it that could not be read.
  std::uint32_t torn_before = 0;
  std::uint32_t model = 0;     ///< a hash of the GPU's name; 0: unknown
  std::uint32_t contents = 0;  ///< a hash of all cells
  float total_mib = -1.0F;     ///< below 0: unknown, as `used_mib` and `temperature`
  float used_mib = -1.0F;
  float temperature = -1.0F;

  [[nodiscard]] bool is_copy_of(const RowTrace& other) const noexcept {
    return time_ms == other.time_ms && contents == other.contents;
  }
};

using Traces = std::span<const RowTrace>;

/// `continuity_cost` of rows that are not the same.
[[nodiscard]] double cost_of_change(const RowTrace& one, const RowTrace& other) noexcept;

/// How unlikely it is that two rows are of one GPU, as a negative logarithm; of what changes
/// slowly.
[[nodiscard]] inline double continuity_cost(const RowTrace& one, const RowTrace& other) noexcept {
  const bool is_same = one.temperature == other.temperature && one.used_mib == other.used_mib;
  return is_same ? 0.0 : cost_of_change(one, other);
}

/// True if they show that their GPUs are different boards.
[[nodiscard]] inline bool are_unlike(const RowTrace& one, const RowTrace& other) noexcept {
  const bool has_totals = one.total_mib >= 0.0F && other.total_mib >= 0.0F;
  const bool has_models = one.model != 0 && other.model != 0;
  return (has_totals && one.total_mib != other.total_mib) ||
         (has_models && one.model != other.model);
}

/// The order and the times of the rows of `gpus` GPUs. Position s is the s-th row of a round; which
/// of them is the first GPU is not known before the pauses are compared. Threads: a value type.
class RoundModel {
 public:
  static constexpr std::size_t kMostMissing = 4;  ///< rows in a row

  struct ExpectedGap {
    double expected_ms = 0.0;
    double spread_ms = 1.0;
  };

  /// From rows without a gap, the first of them at position 0.
  static RoundModel of_window(Traces rows, std::size_t gpus);
  /// From rows whose positions are known; `positions[i]` is that of `rows[i]`.
  static RoundModel of_path(Traces rows, std::span<const std::uint16_t> positions,
                            std::size_t gpus);

  [[nodiscard]] std::size_t gpus() const noexcept { return gaps_.size(); }
  [[nodiscard]] const ExpectedGap& gap(std::size_t after) const noexcept { return gaps_[after]; }
  [[nodiscard]] double period_ms() const noexcept { return period_ms_; }
  /// The unchanging properties of the GPU at a position; unknown values where rows differ.
  [[nodiscard]] const RowTrace& board(std::size_t position) const noexcept {
    return boards_[position];
  }
  /// The cost of a gap after the row at `from`, with `missing` rows in it.
  [[nodiscard]] double time_cost(std::size_t from, std::size_t missing,
                                 double gap_ms) const noexcept;
  /// True for a gap to the next row as the rows have it.
  [[nodiscard]] bool is_usual_gap(std::size_t from, double gap_ms) const noexcept;
  /// The cost of a gap of no kind: held up, or cut off.
  [[nodiscard]] double outlier_cost() const noexcept { return outlier_cost_; }
  /// How badly the windows fit, per row: to choose among windows and numbers of GPUs.
  [[nodiscard]] double misfit() const noexcept { return misfit_; }
  /// The position after the pause between two rounds; absent where no pause is clearly the longest.
  [[nodiscard]] std::optional<std::size_t> first_position() const noexcept;
  /// False if a driver would take longer from one GPU to the next than any does.
  [[nodiscard]] bool is_plausible() const noexcept;
  /// True if something shows that there is more than one GPU.
  [[nodiscard]] bool is_evident() const noexcept;
  /// True if the times show no pause once a round: fewer GPUs explain them as well.
  [[nodiscard]] bool has_even_times() const noexcept;
  /// True if the times show the same pause several times a round.
  [[nodiscard]] bool has_several_pauses() const noexcept;
  /// True if nothing distinguishes a position from the one `gpus` later: so there are only that
  /// many.
  [[nodiscard]] bool repeats(std::size_t gpus) const noexcept;

 private:
  struct Position {
    Moments gap;
    Moments temperature;
    Moments used;
  };
  struct GapCost {
    double expected_ms = 0.0;
    double per_spread = 1.0;
    double log_spread = 0.0;

    /// But for the logarithm of the spread.
    [[nodiscard]] double cost_of(double gap_ms) const noexcept;
  };
  void set_up();
  /// True if the longest gap is clearly longer than the shortest one.
  [[nodiscard]] bool has_pause() const noexcept;

  std::vector<ExpectedGap> gaps_;
  std::vector<RowTrace> boards_;
  std::vector<Position> shown_;  ///< of a path
  std::vector<std::array<GapCost, kMostMissing + 1>> steps_;
  double period_ms_ = 0.0;
  double outlier_cost_ = 0.0;
  double misfit_ = 0.0;
};

}  // namespace wattle
