// Statistics of repeated runs. Pure functions of numbers; docs/comparing.md has the source of each
// formula.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace wattle {

struct Interval {
  double low = 0.0;
  double high = 0.0;

  [[nodiscard]] bool contains(double value) const noexcept { return low <= value && value <= high; }
};

/// Of at least one value; all are finite.
struct Summary {
  std::size_t count = 0;
  double mean = 0.0;
  std::optional<double> sd;  ///< standard deviation of the sample; absent for one value
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
  std::optional<Interval> mean95;  ///< 95 % interval of the mean, Student's t; absent for one value
};
[[nodiscard]] Summary summarize(std::span<const double> values);

/// The middle value, or the mean of the two in the middle. Of at least one value.
[[nodiscard]] double median_of(std::vector<double> values);

/// The value that Student's t with `degrees` of freedom (above 0, not only whole numbers) stays
/// below with this probability, from 0.5 to below 1.
[[nodiscard]] double student_quantile(double probability, double degrees);

/// A location and its standard error that outliers do not move: Tukey's biweight.
struct RobustMean {
  double location = 0.0;
  double standard_error = 0.0;
  std::size_t outliers = 0;  ///< values without any weight
};
/// Of at least two values; below five, and where half of the values are equal, the plain mean.
[[nodiscard]] RobustMean robust_mean(std::span<const double> values);

/// Half of the 95 % interval of a robust mean of `count` values, at least two, in standard errors.
[[nodiscard]] double critical_of(std::size_t count);

/// What the critical value of `count` values is above Student's t, so that the interval of values
/// that are normal covers 95.5 %.
[[nodiscard]] double biweight_factor(std::size_t count) noexcept;

/// Probability below the critical value: 95.5 % between both sides. Half a percent more than asked
/// for pays for outliers, which cost the interval up to that.
inline constexpr double kBelowCritical = 0.9775;

/// Indices of the values that lie far from all others: more than 5 standard deviations, estimated
/// by the median deviation, and more than 1 % of the median. Needs five values.
[[nodiscard]] std::vector<std::size_t> outliers_of(std::span<const double> values);

/// The relative change from the start to the end, by the median slope, where the order of the
/// values shows one (Mann and Kendall's test at 1 %) and it is above 1 %. Absent for fewer than ten
/// values, and where one is 0 or less.
[[nodiscard]] std::optional<double> drift_of(std::span<const double> values);

}  // namespace wattle
