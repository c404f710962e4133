// Where the labelled lines of an axis stand.
#pragma once

#include <cmath>

namespace wattle::html {

/// 1, 2 or 5 times a power of ten.
struct RoundStep {
  int factor = 1;
  double power = 1.0;

  [[nodiscard]] double value() const noexcept { return factor * power; }
};

/// The smallest such step so that at most `most` of them cover `range`. Of a range that is none (0,
/// not finite): 1.
[[nodiscard]] inline RoundStep round_step(double range, int most) noexcept {
  if (!(range > 0.0) || !std::isfinite(range)) return {};
  for (double power = std::pow(10.0, std::floor(std::log10(range / most)));; power *= 10.0) {
    for (const int factor : {1, 2, 5}) {
      // A range of whole steps is covered by these, whatever the division is off by.
      if (std::ceil(range / (factor * power) - 1e-9) <= most) return {factor, power};
    }
  }
}

}  // namespace wattle::html
