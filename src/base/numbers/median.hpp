// The value in the middle of some, of which there is at least one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace wattle {

/// Of an even number the lower one of the two in the middle; reorders `values`.
template <class T>
[[nodiscard]] T lower_median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Of an even number the upper one; reorders `values`.
template <class T>
[[nodiscard]] T upper_median(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Of an even number the mean of both.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  const double upper = upper_median(values);
  if (values.size() % 2 == 1) return upper;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  return std::midpoint(*std::max_element(values.begin(), middle), upper);
}

}  // namespace wattle
