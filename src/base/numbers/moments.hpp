// Mean and variance of numbers that come one by one.
#pragma once

#include <cstdint>

namespace wattle {

/// By Welford's method (Technometrics 4, 1962, pages 419 to 420). Threads: a value type.
struct Moments {
  std::uint64_t count = 0;
  double mean = 0.0;
  double squares = 0.0;  ///< sum of the squares of the deviations from the mean

  void add(double value) noexcept {
    ++count;
    const double change = value - mean;
    mean += change / static_cast<double>(count);
    squares += change * (value - mean);
  }
  /// The variance of the sample, which has at least two values.
  [[nodiscard]] double variance() const noexcept {
    return squares / (static_cast<double>(count) - 1.0);
  }
};

}  // namespace wattle
