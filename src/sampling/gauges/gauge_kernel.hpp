// How a gauge makes its values of the power.
#pragma once

#include <chrono>

#include "sensors/sensor.hpp"

namespace wattle {

struct GaugeKernel {
  std::chrono::nanoseconds delay{0};  ///< of the middle of what a value is the mean of
  std::chrono::nanoseconds width{0};  ///< that it is the mean of; 0: unknown
  bool lags = false;                  ///< it follows the power with a first-order lag of `delay`

  /// True where neighbours among values that are `spacing` apart share most of their time: a
  /// line from one to the next is what the gauge would have shown in between.
  [[nodiscard]] constexpr bool overlaps(std::chrono::nanoseconds spacing) const noexcept {
    // A board that is renewed a little less often than stated does not overlap for that.
    return 2 * width > 3 * spacing;
  }
};

/// A first-order lag by t is late by t on average. Of a step at an end it leaves t/e on the wrong
/// side, a mean over w leaves w/8: there it is about one over 3 t.
[[nodiscard]] constexpr GaugeKernel kernel_of(const GaugeTraits& gauge) noexcept {
  if (gauge.time_constant)
    return {.delay = *gauge.time_constant, .width = 3 * *gauge.time_constant, .lags = true};
  const std::chrono::nanoseconds window = gauge.window.value_or(std::chrono::nanoseconds(0));
  return {.delay = window / 2, .width = window};
}

}  // namespace wattle
