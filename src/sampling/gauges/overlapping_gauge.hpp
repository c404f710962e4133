// The energy of a window from a gauge whose values overlap: means over longer than the time between
// two of them, or a first-order lag.
#pragma once

#include <optional>

#include "sampling/gauges/gauge_kernel.hpp"
#include "sampling/history.hpp"
#include "wattle/units.hpp"

namespace wattle {

struct OverlappingEnergy {
  Joules energy;
  /// Variance of what the two ends add to it, in J^2.
  double ends_j2 = 0.0;
  /// By how much the power may have changed since the newest value.
  Watts power_change_at_end{};
};

/// The gauge's value v(t) and the power P(t) are related. With a lag by d (d v' = P - v), and
/// nearly so for means over w = 2 d where the power is steady for w,
///
///   integral of P from a to b = integral of v from a to b + d (v(b) - v(a))
///
/// Nothing waits for values after the end. A mean is also the exact energy of the last w: where
/// the power changed within w of an end, w v(b) is taken for the last w, or w v(a + w) for the
/// first, and the rest is that of the window without them.
///
/// Absent where some of the window is unknown, or too short for a line from value to value. Costs
/// as many readings as there are within 2 w of the ends.
[[nodiscard]] std::optional<OverlappingEnergy> overlapping_energy(const History& history,
                                                                  const GaugeKernel& kernel,
                                                                  TimePoint begin, TimePoint end);

}  // namespace wattle
