#include "runs/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <ranges>

#include "base/numbers/moments.hpp"

namespace wattle {
namespace {

double mean_of(std::span<const double> values) noexcept {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The standard deviation of a sample: divided by one less than the count, which is at least 2.
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

/// Trend in the order of values: how many pairs rise more than fall.
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

/// The moments of the first 0, 1, 2 ... values.
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

Summary summarize(std::span<const double> values, std::span<const double> uncertainties) {
  const auto [least, most] = std::ranges::minmax(values);
  Summary summary{.count = values.size(),
                  .mean = mean_of(values),
                  .median = median_of({values.begin(), values.end()}),
                  .min = least,
                  .max = most};
  if (values.size() < 2) return summary;
  const auto count = static_cast<double>(values.size());
  summary.sd = sd_of(values, summary.mean);
  const double measured = uncertainties.empty() ? 0.0 : mean_of(uncertainties);
  const double half =
      std::hypot(student_critical(count - 1.0) * *summary.sd / std::sqrt(count), measured);
  summary.mean95 = ConfidenceInterval{summary.mean - half, summary.mean + half};
  return summary;
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
  // The mean of equal values may differ from them by a rounding, the same for all.
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
