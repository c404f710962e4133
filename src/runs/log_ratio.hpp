// Which of two commands spends more on average, and by how much: the logarithm of the ratio of
// their means, so that "half" and "twice" are equally far from "equal".
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "runs/statistics.hpp"

namespace wattle {

/// One quantity of one command: a value for each run, all above 0.
struct Series {
  std::span<const double> values;
  /// By how much each value is off by chance (k = 1), for energy; empty: the values are exact.
  std::span<const double> errors{};
  /// By how much each may be off in every run of the kind (k = 2), with its sign; empty: nothing.
  std::span<const double> common{};
};

/// The natural logarithm of the mean of B by the mean of A.
struct LogRatio {
  double estimate = 0.0;
  std::optional<ConfidenceInterval> interval{};  ///< 95 %; absent where there are too few runs
  double error = 0.0;  ///< standard error of the estimate; 0 without an interval
  /// Pairs, or runs of the command that has fewer.
  std::size_t runs = 0;
  std::size_t outliers = 0;     ///< runs of either command far from its others; they count, too
  std::size_t outliers_of = 0;  ///< the runs of both
  bool is_by_sampling = false;  ///< the ± of the measurements is wider than what the runs show
  /// The part of the interval's half width that comes back in each run: more runs do not lessen it.
  double common = 0.0;

  [[nodiscard]] bool is_shown() const noexcept { return interval && !interval->contains(0.0); }
};

/// Runs of A and B that took turns: each value of `a` with the value of `b` of the same round, so
/// that what both share cancels. As many of both, at least one.
[[nodiscard]] LogRatio paired_log_ratio(const Series& a, const Series& b);

/// Runs that have nothing to do with each other: Welch's interval. At least one of each.
[[nodiscard]] LogRatio unpaired_log_ratio(const Series& a, const Series& b);

/// The part by which B is above A (0.1: 10 % more; -0.1: 10 % less) for a logarithm of B/A.
[[nodiscard]] double change_of(double log_ratio) noexcept;

/// A change that is not shown, and how many more runs would show it with a probability of 80 %.
struct Resolution {
  double change = 0.0;  ///< a round part by which B is above A: 0.05, 0.02, 0.01 ...
  std::size_t more_runs = 0;
};
/// Absent where the ratio has no interval, or is shown, or the number is beyond 10,000.
[[nodiscard]] std::optional<Resolution> resolution_of(const LogRatio& ratio);

}  // namespace wattle
