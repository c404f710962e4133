#include "runs/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace wattle {
namespace {

double mean_of(std::span<const double> values) noexcept {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of the sample: divided by one less than the count, which is at least 2.
double sd_of(std::span<const double> values, double mean) noexcept {
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double median_deviation(std::span<const double> values, double center) {
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - center));
  return median_of(std::move(deviations));
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by
/// Lentz's method.
double beta_fraction(double x, double a, double b) noexcept {
  constexpr int kMostTerms = 500;
  constexpr double kTiny = 1e-300;
  constexpr double kPrecision = 1e-15;
  const auto kept_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0;
  double d = 1.0 / kept_from_zero(1.0 - (a + b) * x / (a + 1.0));
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const std::array<double, 2> terms = {
        m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
    double change = 1.0;
    for (const double term : terms) {
      d = 1.0 / kept_from_zero(1.0 + term * d);
      c = kept_from_zero(1.0 + term / c);
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1.0) < kPrecision) break;
  }
  return fraction;
}

/// `std::lgamma` without its global variable for the sign: `x` is positive here.
double log_gamma(double x) noexcept {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// The regularized incomplete beta function.
double incomplete_beta(double x, double a, double b) noexcept {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  // The fraction converges quickly on one side only.
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(x, a, b) / a;
  return 1.0 - front * beta_fraction(1.0 - x, b, a) / b;
}

/// The probability that Student's t exceeds `t`, which is not negative (Abramowitz and Stegun
/// 26.7.1).
double student_tail(double t, double degrees) noexcept {
  return 0.5 * incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5);
}

/// Weights of values at a distance of `u` tuning constants from the center.
struct Biweight {
  double u;
  [[nodiscard]] bool counts() const noexcept { return std::abs(u) < 1.0; }
  [[nodiscard]] double rest() const noexcept { return 1.0 - u * u; }
};

/// In median deviations: what lies further away than that has no weight. With 6 or 9, the customary
/// constants, the interval of five values is wider by a third.
constexpr double kTuning = 12.0;

RobustMean plain_mean(std::span<const double> values) {
  const double mean = mean_of(values);
  const auto count = static_cast<double>(values.size());
  return {.location = mean, .standard_error = sd_of(values, mean) / std::sqrt(count)};
}

}  // namespace

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

double student_quantile(double probability, double degrees) {
  const double tail = 1.0 - probability;
  double low = 0.0;
  double high = 1.0;
  while (student_tail(high, degrees) > tail && std::isfinite(high)) high *= 2.0;
  // Doubles are that fine.
  for (int halved = 0; halved < 60; ++halved) {
    const double middle = std::midpoint(low, high);
    (student_tail(middle, degrees) > tail ? low : high) = middle;
  }
  return std::midpoint(low, high);
}

Summary summarize(std::span<const double> values) {
  const auto [least, most] = std::ranges::minmax(values);
  Summary summary{.count = values.size(),
                  .mean = mean_of(values),
                  .sd = {},
                  .median = median_of({values.begin(), values.end()}),
                  .min = least,
                  .max = most,
                  .mean95 = {}};
  if (values.size() < 2) return summary;
  const auto count = static_cast<double>(values.size());
  summary.sd = sd_of(values, summary.mean);
  const double half = student_quantile(0.975, count - 1.0) * *summary.sd / std::sqrt(count);
  summary.mean95 = Interval{summary.mean - half, summary.mean + half};
  return summary;
}

double biweight_factor(std::size_t count) noexcept {
  // Found by simulation: `comparison_lab --factors` prints them.
  constexpr std::size_t kFirst = 5;
  constexpr std::array kFactors = {1.484, 1.144, 1.124, 1.064, 1.058, 1.035, 1.031, 1.022,
                                   1.020, 1.014, 1.013, 1.011, 1.010, 1.009, 1.008, 1.007};
  if (count < kFirst) return 1.0;
  if (count - kFirst < kFactors.size()) return kFactors.at(count - kFirst);
  return 1.0 + 0.14 / static_cast<double>(count);
}

double critical_of(std::size_t count) {
  return biweight_factor(count) * student_quantile(kBelowCritical, static_cast<double>(count - 1));
}

RobustMean robust_mean(std::span<const double> values) {
  constexpr std::size_t kFewest = 5;
  if (values.size() < kFewest) return plain_mean(values);
  double center = median_of({values.begin(), values.end()});
  const double unit = kTuning * median_deviation(values, center);
  if (!(unit > 0.0)) return plain_mean(values);
  constexpr int kSteps = 5;  // it does not move any more after that
  for (int step = 0; step < kSteps; ++step) {
    double sum = 0.0;
    double weights = 0.0;
    for (const double value : values) {
      const Biweight at{(value - center) / unit};
      if (!at.counts()) continue;
      sum += at.rest() * at.rest() * value;
      weights += at.rest() * at.rest();
    }
    center = sum / weights;
  }
  RobustMean result{.location = center};
  double squares = 0.0;
  double slope = 0.0;
  for (const double value : values) {
    const Biweight at{(value - center) / unit};
    if (!at.counts()) {
      ++result.outliers;
      continue;
    }
    squares += (value - center) * (value - center) * std::pow(at.rest(), 4);
    slope += at.rest() * (1.0 - 5.0 * at.u * at.u);
  }
  const auto count = static_cast<double>(values.size());
  result.standard_error = std::sqrt(squares * count / (count - 1.0)) / slope;
  return result;
}

std::vector<std::size_t> outliers_of(std::span<const double> values) {
  constexpr std::size_t kFewest = 5;
  constexpr double kFar = 5.0;
  constexpr double kDeviations = 1.4826;  // a normal distribution's standard deviation in medians
  constexpr double kLeastPart = 0.01;
  std::vector<std::size_t> indices;
  if (values.size() < kFewest) return indices;
  const double center = median_of({values.begin(), values.end()});
  const double limit = std::max(kFar * kDeviations * median_deviation(values, center),
                                kLeastPart * std::abs(center));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - center) > limit) indices.push_back(i);
  }
  return indices;
}

std::optional<double> drift_of(std::span<const double> values) {
  constexpr std::size_t kFewest = 10;
  constexpr double kAtOnePercent = 2.576;  // of a normal distribution, both sides
  constexpr double kLeastPart = 0.01;
  const std::size_t count = values.size();
  const auto is_positive = [](double value) { return value > 0.0; };
  if (count < kFewest || !std::ranges::all_of(values, is_positive)) return std::nullopt;
  double rises = 0.0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = i + 1; k < count; ++k) {
      const double change = values[k] - values[i];
      if (change != 0.0) rises += change > 0.0 ? 1.0 : -1.0;
      slopes.push_back(std::log(values[k] / values[i]) / static_cast<double>(k - i));
    }
  }
  const auto n = static_cast<double>(count);
  const double sd = std::sqrt(n * (n - 1.0) * (2.0 * n + 5.0) / 18.0);
  if (std::abs(rises) - 1.0 <= kAtOnePercent * sd) return std::nullopt;
  const double change = std::expm1(median_of(std::move(slopes)) * (n - 1.0));
  if (!(std::abs(change) > kLeastPart)) return std::nullopt;
  return change;
}

}  // namespace wattle
