#include "runs/log_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace wattle {
namespace {

std::vector<double> logs_of(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

double mean_of_logs(std::span<const double> values) noexcept {
  double sum = 0.0;
  for (const double value : values) sum += std::log(value);
  return sum / static_cast<double>(values.size());
}

/// The variance of the mean logarithm that the errors of the values make, which are independent.
double sampling_variance(const Series& series) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < series.errors.size(); ++i) {
    const double part = series.errors[i] / series.values[i];
    sum += part * part;
  }
  const auto count = static_cast<double>(series.values.size());
  return sum / (count * count);
}

/// The largest of 1, 2 or 5 times a power of ten that is below `part`.
double round_part_below(double part) noexcept {
  const double decade = std::pow(10.0, std::floor(std::log10(part)));
  for (const double step : {5.0, 2.0}) {
    if (step * decade < part) return step * decade;
  }
  return decade;
}

/// The errors are a part of what the runs scatter. Where these happen to agree more closely than
/// their errors allow, the interval is that of the errors.
LogRatio with_interval(LogRatio ratio, double half, double sampling) {
  constexpr double kCoverage = 2.0;  // k, as every ± of Wattle
  const double least = kCoverage * std::sqrt(sampling);
  ratio.is_by_sampling = least > half;
  ratio.error = std::max(ratio.error, std::sqrt(sampling));
  const double width = std::max(half, least);
  ratio.interval = Interval{ratio.estimate - width, ratio.estimate + width};
  return ratio;
}

}  // namespace

LogRatio paired_log_ratio(const Series& a, const Series& b) {
  std::vector<double> ratios = logs_of(b.values);
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] -= std::log(a.values[i]);
  if (ratios.size() < 2) return {.estimate = ratios.front(), .interval = {}, .runs = ratios.size()};
  const RobustMean mean = robust_mean(ratios);
  return with_interval({.estimate = mean.location,
                        .interval = {},
                        .error = mean.standard_error,
                        .runs = ratios.size(),
                        .outliers = mean.outliers,
                        .weighed = ratios.size()},
                       critical_of(ratios.size()) * mean.standard_error,
                       sampling_variance(a) + sampling_variance(b));
}

LogRatio unpaired_log_ratio(const Series& a, const Series& b) {
  const std::size_t runs = std::min(a.values.size(), b.values.size());
  if (runs < 2) {
    return {
        .estimate = mean_of_logs(b.values) - mean_of_logs(a.values), .interval = {}, .runs = runs};
  }
  double variance = 0.0;
  double by_degrees = 0.0;
  double location = 0.0;
  std::size_t outliers = 0;
  for (const Series* const series : {&a, &b}) {
    const RobustMean mean = robust_mean(logs_of(series->values));
    const std::size_t count = series->values.size();
    const double error = biweight_factor(count) * mean.standard_error;
    variance += error * error;
    by_degrees += std::pow(error, 4) / static_cast<double>(count - 1);
    location = mean.location - location;  // that of B without that of A
    outliers += mean.outliers;
  }
  // Welch and Satterthwaite. Runs that are all equal have no error.
  const double half =
      by_degrees > 0.0
          ? std::sqrt(variance) * student_quantile(kBelowCritical, variance * variance / by_degrees)
          : 0.0;
  return with_interval({.estimate = location,
                        .interval = {},
                        .error = std::sqrt(variance),
                        .runs = runs,
                        .outliers = outliers,
                        .weighed = a.values.size() + b.values.size()},
                       half, sampling_variance(a) + sampling_variance(b));
}

double change_of(double log_ratio) noexcept { return std::expm1(log_ratio); }

std::optional<Resolution> resolution_of(const LogRatio& ratio) {
  constexpr double kPower = 0.8416;  // 80 % of a normal distribution lie below
  constexpr std::size_t kMostRuns = 10'000;
  constexpr double kEqual = 1e-9;  // what doubles make of equal values
  if (!ratio.interval || ratio.is_shown() || !(ratio.error > kEqual)) return std::nullopt;
  const double half = (ratio.interval->high - ratio.interval->low) / 2.0;
  const double change = round_part_below(std::expm1(half + kPower * ratio.error));
  if (!std::isfinite(change)) return std::nullopt;
  const double log_change = std::log1p(change);
  const double per_run = ratio.error * std::sqrt(static_cast<double>(ratio.runs));
  const auto shows = [&](std::size_t runs) {
    return (critical_of(runs) + kPower) * per_run / std::sqrt(static_cast<double>(runs)) <=
           log_change;
  };
  std::size_t fails = ratio.runs;
  std::size_t enough = ratio.runs + kMostRuns;
  if (!shows(enough)) return std::nullopt;
  while (enough - fails > 1) {
    const std::size_t middle = std::midpoint(fails, enough);
    (shows(middle) ? enough : fails) = middle;
  }
  return Resolution{.change = change, .more_runs = enough - ratio.runs};
}

}  // namespace wattle
