// The median of at least one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace wattle {

/// For an even number of values, the lower one of the two in the middle. Reorders `values`.
template <class T>
[[nodiscard]] T lower_median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// For an even number of values, the upper one of the two in the middle. Reorders `values`.
template <class T>
[[nodiscard]] T upper_median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// For an even number of values, the mean of the two in the middle.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  const double upper = upper_median(values);
  if (values.size() % 2 == 1) return upper;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  return std::midpoint(*std::max_element(values.begin(), middle), upper);
}

}  // namespace wattle
