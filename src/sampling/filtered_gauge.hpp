// The energy of a window from a gauge that follows the power through a filter that nobody has
// described: NVIDIA's power.draw.average.
#pragma once

#include <vector>

#include "sampling/history.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// A value that a gauge showed, and from when until when it was read.
struct ShownValue {
  double first_s = 0.0;
  double last_s = 0.0;
  double power_w = 0.0;
};

/// How long the values took from one level to another, where they were level before and after: the
/// shortest such time for each direction. No filter takes longer than the values took, whatever the
/// power did. 0: no such change was seen.
struct SettlingTimes {
  double rise_s = 0.0;
  double fall_s = 0.0;
};

/// `values`: in the order of their times.
[[nodiscard]] SettlingTimes settling_times(const std::vector<ShownValue>& values);

struct FilteredEnergy {
  Joules energy;
  Joules uncertainty;  ///< k = 2
  Joules common;       ///< the part of it that comes back in each run of the kind
};

/// With T(x), the mean delay D of the filter times a mean of the power just before x,
///
///   integral of P from a to b = integral of v from a to b + T(b) - T(a)
///
/// for every linear filter. Without knowing it, D (v(b) - v(a)) is taken for T(b) - T(a). What is
/// known of D: it is at most `GaugeTraits::longest_lag`; at most two thirds of the time that the
/// values take to settle, where that was seen; and at most the highest power over the steepest
/// change of the values. A filter may follow a rise sooner than a fall: then each rise and each
/// fall of the values adds what the two delays differ by.
///
///   U^2 = (d (R - F))^2 + (g (R + F)/2)^2     R, F: all rises, all falls; d: by how much D can be
///                                             off; g: by how much the delays can differ
///       + (D/5)^2 (r_begin^2 + r_end^2)       r: by how much the values change near an end, where
///                                             the power may have changed more than they show
///       + h^2 changes/6 + n^2 bends/1.5       values are read at any time within the spacing h; n:
///                                             how often they change, where that is less often
///       + D_fall^2 z^2/1.9                    values freeze (see `gauge_uncertainty`)
///       + 8 (0.11 P_mean w)^2                 a load at the filter's own pace shows in no value;
///       w:
///                                             D, at most 1 s
///       + L^2 step^2/3                        rounding
///
/// bench/filter_lab tries this with filters of all kinds (docs/averages.md). `shown`: the integral
/// of the values over the known part of the window. A window of up to 1000 samples costs as many
/// readings as it has, a longer one those near its ends.
[[nodiscard]] FilteredEnergy filtered_energy(const History& history, TimePoint begin, TimePoint end,
                                             Joules shown);

}  // namespace wattle
