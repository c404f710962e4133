// Statistics of repeated runs. Pure functions of numbers; docs/comparing.md has the source of each
// formula.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers/median.hpp"   // IWYU pragma: export
#include "base/numbers/student.hpp"  // IWYU pragma: export

namespace wattle {

struct ConfidenceInterval {
  double low = 0.0;
  double high = 0.0;

  [[nodiscard]] bool contains(double value) const noexcept { return low <= value && value <= high; }
};

/// Summarizes at least one value; all are finite.
struct Summary {
  std::size_t count = 0;
  double mean = 0.0;
  std::optional<double> sd{};  ///< standard deviation of the sample; absent for one value
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
  std::optional<ConfidenceInterval>
      mean95{};  ///< 95 % interval of the mean, Student's t; absent for one value
};
/// `uncertainties`: k = 2, of each value; empty: the values are exact. What they have in common is
/// not known, and does not become less with more runs: their mean widens the interval.
[[nodiscard]] Summary summarize(std::span<const double> values,
                                std::span<const double> uncertainties = {});

/// Indices of the values that lie far from all others: more than 5 standard deviations, estimated
/// by the median deviation, and more than 1 % of the median. Needs five values.
[[nodiscard]] std::vector<std::size_t> outliers_of(std::span<const double> values);

/// The relative change from the start to the end of one set of values or of two, by the median
/// slope, where their order shows one (Mann and Kendall's test at 1 %) and it is above 1 %. Absent
/// where a value is 0 or less. One set of fewer than six values never shows any; of more than 2,000
/// each second, third ... is looked at.
[[nodiscard]] std::optional<double> drift_of(std::span<const double> values,
                                             std::span<const double> others = {});

/// The correlation of each value with the next one, if it is above 0 beyond chance (at 1 %). Absent
/// for fewer than ten values.
[[nodiscard]] std::optional<double> echo_of(std::span<const double> values);

/// Two groups of values, with more space between them than inside.
struct TwoKinds {
  double low = 0.0;  ///< the mean of each
  double high = 0.0;
  std::size_t low_count = 0;
  std::size_t high_count = 0;
};
/// Absent for fewer than eight values, and where one group would have a single value.
[[nodiscard]] std::optional<TwoKinds> two_kinds_of(std::span<const double> values);

/// A kind of run that is a larger part of all is among this number of runs with a probability of 95
/// %.
[[nodiscard]] double unseen_part(std::size_t count);

}  // namespace wattle
