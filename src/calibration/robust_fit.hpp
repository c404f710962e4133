// The fit of a meter's changes on those of several sensors, one of which may be wrong.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "calibration/meter_rows.hpp"

namespace wattle {

/// Watts at a meter for each watt of a device: what power supplies and boards usually need.
inline constexpr double kUsualGain = 1.12;

struct RobustFit {
  std::vector<double> gains;
  /// How much is left of the typical size of changes: 0 if all are explained, about 1 if none is.
  /// A few rows that fit badly, however badly, count little.
  double left = 1.0;
  /// Fits better without this one, whose gain is 0.
  std::optional<std::size_t> without{};
};

/// Fits by weights that fall with the square of what is left, from `gains` on. `noise_w`: what
/// the meter itself may be off by.
[[nodiscard]] RobustFit robust_fit(const AlignedRows& changes, std::span<const double> gains,
                                   double noise_w, std::optional<std::size_t> without = {});

/// The best of that fit and those without one sensor each: a sensor whose changes are not those of
/// its device spoils the fit of all others.
[[nodiscard]] RobustFit robust_fit_of_most(const AlignedRows& changes,
                                           std::span<const double> gains, double noise_w);

/// Gains to start from: the usual one, or a thousand times more or less where a sensor's unit must
/// be another one.
[[nodiscard]] std::vector<double> first_gains(const AlignedRows& rows);

}  // namespace wattle
