#include "runs/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <ranges>

#include "base/moments.hpp"

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

/// What the order of values shows: how many pairs rise more than fall.
struct Trend {
  double rises = 0.0;
  double variance = 0.0;  ///< of `rises` by chance

  void add(std::span<const double> values) noexcept {
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t k = i + 1; k < values.size(); ++k) {
        rises +=
            static_cast<double>(values[k] > values[i]) - static_cast<double>(values[k] < values[i]);
      }
    }
    const auto n = static_cast<double>(values.size());
    variance += n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
  }
};

/// Adds the relative change from one value to the next, by each pair of them.
void add_slopes(std::vector<double>& slopes, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i + 1; k < values.size(); ++k) {
      slopes.push_back(std::log(values[k] / values[i]) / static_cast<double>(k - i));
    }
  }
}

/// At most 2,000 of the values, at equal distances: their pairs are as many as the square.
std::vector<double> few_of(std::span<const double> values) {
  constexpr std::size_t kMost = 2000;
  const std::size_t step = (values.size() + kMost - 1) / kMost;
  std::vector<double> few;
  few.reserve(std::min(values.size(), kMost));
  for (std::size_t i = 0; i < values.size(); i += step) few.push_back(values[i]);
  return few;
}

/// Of the first 0, 1, 2 ... values.
template <class Values>
std::vector<Moments> moments_of_first(const Values& values) {
  std::vector<Moments> all = {Moments()};
  for (const double value : values) {
    all.push_back(all.back());
    all.back().add(value);
  }
  return all;
}

constexpr double kAtOnePercent = 2.576;  // of a normal distribution, both sides

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

Summary summarize(std::span<const double> values, std::span<const double> uncertainties) {
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
  const double measured = uncertainties.empty() ? 0.0 : mean_of(uncertainties);
  const double half =
      std::hypot(student_critical(count - 1.0) * *summary.sd / std::sqrt(count), measured);
  summary.mean95 = Interval{summary.mean - half, summary.mean + half};
  return summary;
}

double student_critical(double degrees) { return student_quantile(0.975, degrees); }

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

std::optional<double> drift_of(std::span<const double> values, std::span<const double> others) {
  constexpr double kLeastPart = 0.01;
  const std::array sets = {few_of(values), few_of(others)};
  Trend trend;
  for (const std::vector<double>& set : sets) {
    if (!std::ranges::all_of(set, [](double value) { return value > 0.0; })) return std::nullopt;
    trend.add(set);
  }
  if (std::abs(trend.rises) - 1.0 <= kAtOnePercent * std::sqrt(trend.variance)) return std::nullopt;
  std::vector<double> slopes;
  for (const std::vector<double>& set : sets) add_slopes(slopes, set);
  const auto steps = static_cast<double>(std::max(sets[0].size(), sets[1].size())) - 1.0;
  const double change = std::expm1(median_of(std::move(slopes)) * steps);
  if (!(std::abs(change) > kLeastPart)) return std::nullopt;
  return change;
}

std::optional<double> echo_of(std::span<const double> values) {
  constexpr std::size_t kFewest = 10;
  constexpr double kAboveAtOnePercent = 2.326;
  if (values.size() < kFewest) return std::nullopt;
  // Of equal values the mean may differ by a rounding, and that is the same for all.
  const auto [least, most] = std::ranges::minmax(values);
  if (least == most) return std::nullopt;
  const double mean = mean_of(values);
  double together = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0) together += (values[i] - mean) * (values[i - 1] - mean);
  }
  const double correlation = together / squares;
  const auto count = static_cast<double>(values.size());
  // By chance it is -1/n on average, give or take one standard deviation of 1/sqrt(n).
  if (correlation + 1.0 / count <= kAboveAtOnePercent / std::sqrt(count)) return std::nullopt;
  return correlation;
}

std::optional<TwoKinds> two_kinds_of(std::span<const double> values) {
  constexpr std::size_t kFewest = 8;
  constexpr double kApart = 6.0;  // standard deviations inside the groups
  const std::size_t count = values.size();
  if (count < kFewest) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::vector<Moments> below = moments_of_first(sorted);
  const std::vector<Moments> above = moments_of_first(sorted | std::views::reverse);
  std::optional<TwoKinds> found;
  double most_apart = kApart;
  for (std::size_t low = 2; low + 2 <= count; ++low) {
    const std::size_t high = count - low;
    const double inside = std::sqrt(std::max(below[low].variance(), above[high].variance()));
    // Equal values have none: then any distance counts.
    const double apart =
        (sorted[low] - sorted[low - 1]) / std::max(inside, 1e-12 * above[high].mean);
    if (!(apart > most_apart)) continue;
    most_apart = apart;
    found = TwoKinds{
        .low = below[low].mean, .high = above[high].mean, .low_count = low, .high_count = high};
  }
  return found;
}

double unseen_part(std::size_t count) {
  constexpr double kMissed = 0.05;
  return 1.0 - std::pow(kMissed, 1.0 / static_cast<double>(count));
}

}  // namespace wattle
