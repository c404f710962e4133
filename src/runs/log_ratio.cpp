#include "runs/log_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace wattle {
namespace {

/// The mean of values, and its relative standard error; none for one value.
struct EstimatedMean {
  double value = 0.0;
  double error = 0.0;
};

EstimatedMean estimated_mean(std::span<const double> values) {
  const Summary summary = summarize(values);
  const auto count = static_cast<double>(values.size());
  return {.value = summary.mean,
          .error = summary.sd.value_or(0.0) / std::sqrt(count) / summary.mean};
}

std::size_t outliers_in(const Series& a, const Series& b) {
  return outliers_of(a.values).size() + outliers_of(b.values).size();
}

/// The relative variance of the mean that the errors of the values make, which are independent.
double sampling_variance(const Series& series) noexcept {
  double squares = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < series.errors.size(); ++i) {
    squares += series.errors[i] * series.errors[i];
    sum += series.values[i];
  }
  return squares > 0.0 ? squares / (sum * sum) : 0.0;
}

/// A sensor that is late in each run of a command is late by a part of its mean. The part that both
/// commands have cancels.
double common_of(const Series& a, const Series& b) noexcept {
  const auto part_of = [](const Series& series) {
    const double values = std::reduce(series.values.begin(), series.values.end());
    return std::reduce(series.common.begin(), series.common.end()) / values;
  };
  return std::abs(part_of(b) - part_of(a));
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
/// their errors allow, the interval is that of the errors. What comes back in each run scatters
/// nowhere, and is added.
LogRatio with_interval(LogRatio ratio, double half, const Series& a, const Series& b) {
  constexpr double kCoverage = 2.0;  // k, as every ± of Wattle
  const double sampling = std::sqrt(sampling_variance(a) + sampling_variance(b));
  const double least = kCoverage * sampling;
  ratio.common = common_of(a, b);
  ratio.is_by_sampling = least + ratio.common > half;
  ratio.error = std::max(ratio.error, sampling);
  const double width = std::max(half, least) + ratio.common;
  ratio.interval = ConfidenceInterval{ratio.estimate - width, ratio.estimate + width};
  return ratio;
}

}  // namespace

LogRatio paired_log_ratio(const Series& a, const Series& b) {
  const std::size_t runs = a.values.size();
  const double mean_a = estimated_mean(a.values).value;
  const double mean_b = estimated_mean(b.values).value;
  LogRatio ratio{.estimate = std::log(mean_b / mean_a), .interval = {}, .runs = runs};
  if (runs < 2) return ratio;
  ratio.outliers = outliers_in(a, b);
  ratio.outliers_of = 2 * runs;
  // A disturbance of both runs of a round, as a part of their means, is in no difference.
  std::vector<double> differences(runs);
  for (std::size_t i = 0; i < runs; ++i) {
    differences[i] = b.values[i] / mean_b - a.values[i] / mean_a;
  }
  const Summary summary = summarize(differences);
  const auto count = static_cast<double>(runs);
  ratio.error = summary.sd.value_or(0.0) / std::sqrt(count);
  return with_interval(ratio, student_critical(count - 1.0) * ratio.error, a, b);
}

LogRatio unpaired_log_ratio(const Series& a, const Series& b) {
  const EstimatedMean mean_a = estimated_mean(a.values);
  const EstimatedMean mean_b = estimated_mean(b.values);
  LogRatio ratio{.estimate = std::log(mean_b.value / mean_a.value),
                 .runs = std::min(a.values.size(), b.values.size())};
  if (ratio.runs < 2) return ratio;
  ratio.outliers = outliers_in(a, b);
  ratio.outliers_of = a.values.size() + b.values.size();
  const double variance = mean_a.error * mean_a.error + mean_b.error * mean_b.error;
  const auto by_degrees = [](const EstimatedMean& mean, std::size_t count) {
    return std::pow(mean.error, 4) / static_cast<double>(count - 1);
  };
  const double of_both = by_degrees(mean_a, a.values.size()) + by_degrees(mean_b, b.values.size());
  ratio.error = std::sqrt(variance);
  // Welch and Satterthwaite. Runs that are all equal have no error.
  const double half =
      of_both > 0.0 ? ratio.error * student_critical(variance * variance / of_both) : 0.0;
  return with_interval(ratio, half, a, b);
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
    return (student_critical(static_cast<double>(runs - 1)) + kPower) * per_run /
                   std::sqrt(static_cast<double>(runs)) +
               ratio.common <=
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
