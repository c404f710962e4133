// One cell of the lab's table: a way to measure, a load, a length of window; and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/world.hpp"

namespace wattle::lab {

/// Less than this part of an energy is nothing: the truth itself is a sum of doubles.
inline constexpr double kRounding = 1e-12;

struct Cell {
  /// Of `modes()`. Where there is no such mode yet, the common ways are tried alone.
  std::string_view mode;
  Machine machine;
  Load load;
  double window_s = 1.0;
  /// Windows are this much longer or shorter at random, as a part of `window_s`.
  double variation = 0.1;
  /// Why the +- need not be near the error; empty where it must.
  std::string_view exempt_from_width{};

  /// What a load that is hidden can cost at most, as a part of `true_mean_w`: all values are the
  /// highest power of the load, or the lowest.
  [[nodiscard]] double most_if_hidden(double true_mean_w) const noexcept;
  /// "plain, ice lake, 40 Hz square, 100 ms": no two cells have the same.
  [[nodiscard]] std::string name() const;
  /// True where nothing looks but a gauge, for a part of the time, and most of the load's changes
  /// repeat at the gauge's own pace or a multiple of it, or so near to that that it sees them at
  /// the same phase more than ten times: none of its values can show that they are wrong.
  [[nodiscard]] bool is_hidden() const;
};

/// The errors of one way of measuring over all trials, as parts of the true energy.
struct Errors {
  double bias = 0.0;
  double rms = 0.0;
  double p95 = 0.0;  ///< 95th percentile of |error|
  double most = 0.0;
};

/// What a way said beside the energy. All are parts: of the energies that it found, but for the
/// coverage, which is of all trials.
struct Claims {
  double median_half_width = 0.0;  ///< of the true energy
  double coverage = 0.0;           ///< the truth lay within the +-
  double disagrees = 0.0;          ///< flagged so
  double partial_coverage = 0.0;   ///< flagged so
  double coverage_unknown = 0.0;   ///< flagged so
  double gap = 0.0;                ///< flagged so
  /// The largest |error| of the energy that was told beside, of the true energy, in the trials that
  /// were not flagged `disagrees`; 0 where there was none.
  double most_beside = 0.0;
  /// The energy that was told beside was off by more than both +- together and 5 % for what a
  /// sensor is off.
  double far_off_beside = 0.0;
  double noticed_beside = 0.0;  ///< the part of these that was flagged `disagrees`
};

struct WayResult {
  std::string_view way;
  double found = 0.0;  ///< the part of the trials in which it found an energy
  Errors errors{};     ///< of these; nothing where there are none
  std::optional<Claims> claims{};
  /// The errors themselves, ascending, thinned out to at most 201: for plots.
  std::vector<double> quantiles{};
};

struct CellResult {
  double true_mean_j = 0.0;
  /// Absent where the cell's mode does not exist yet.
  std::optional<WayResult> wattle{};
  std::vector<WayResult> common{};
};

struct TrialOptions {
  int trials = 10'000;
  std::uint64_t seed = 1;
  bool common_ways = true;  ///< beside Wattle's; they take most of the time
};

/// Every way sees the same worlds; cells that differ in their mode alone have the same worlds too.
/// Threads: any.
[[nodiscard]] CellResult run_cell(const Cell& cell, const TrialOptions& options);

/// Median half-width over the 95th percentile of |error|: how much wider than needed the +- is.
/// Absent where nothing is claimed, or there is no error but for rounding.
[[nodiscard]] std::optional<double> width_ratio(const WayResult& result) noexcept;

/// "10 ms", "3 s".
[[nodiscard]] std::string length_text(double seconds);

}  // namespace wattle::lab
