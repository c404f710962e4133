// How the power of a machine lies between idle and full load.
#pragma once

#include <algorithm>
#include <cmath>

namespace wattle {

// Measured curves (data/load-power.csv) bend both ways: turbo draws much power at a low load, slow
// clocks at a partial load save it. All lie between u^2 and 1.2 u^0.2 of the power above idle,
// where 1 is the power at full load: some machines draw more before they reach it.
// scripts/server-power
// --check holds these constants to the data.
inline constexpr double kLowExponent = 2.0;
inline constexpr double kTypicalExponent = 0.4;
inline constexpr double kHighExponent = 0.2;
inline constexpr double kHighScale = 1.2;

/// The part of the power above idle at a load `u` from 0 to 1, on a curve of that exponent.
[[nodiscard]] inline double active_part(double u, double exponent) noexcept {
  return std::pow(std::clamp(u, 0.0, 1.0), exponent);
}

/// What a part `own` of the load `all` is responsible for, on a curve of that exponent, as a part
/// of the power above idle: if it comes first (it alone), and if it comes last (what it adds).
struct MarginalParts {
  double first = 0.0;
  double last = 0.0;
};
[[nodiscard]] inline MarginalParts marginal_parts(double own, double all,
                                                  double exponent) noexcept {
  own = std::clamp(own, 0.0, all);
  return {.first = active_part(own, exponent),
          .last = active_part(all, exponent) - active_part(all - own, exponent)};
}

}  // namespace wattle
