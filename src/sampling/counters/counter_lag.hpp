// By how much a counter's energy is off because the counter is late: the part of its error that
// comes back in each window of the same kind.
#pragma once

#include <optional>

#include "sampling/counters/seen_end.hpp"
#include "sampling/integrate.hpp"

namespace wattle {

/// A reading is near an end if it is within this number of updates of it.
inline constexpr int kNearUpdates = 4;

/// The energy that a window of a counter shows late. All energies are the counter's less the true
/// energy; ± with k = 2.
struct CounterLag {
  Joules bias{};    ///< to be subtracted: known from what was seen
  Joules common{};  ///< of what is left, the part that comes back in each such window
  std::optional<Watts> power_before{};  ///< just before the start
  bool has_seen_end = false;            ///< `seen` was used: what the end lacks is in the energy
  bool ends_are_seen = false;           ///< the power around both ends is in the readings
};

/// A counter shows the energy up to its last update, a mean age E[a] ago (uncertainty.hpp). So a
/// window gains what was spent in the age before its start, and lacks what was spent in the age
/// before its end: on average
///
///   b = E[a] (P_before - P_end)
///
/// - P_before: the mean power just before the start, from readings 1 to 10 updates before it, or
///   where there are none from what another sensor of the domain showed at the start
///   (`window.power_before`).
/// - P_end: the mean power just before the end, over 4 updates where the counter was read so often;
///   else since the last reading before it; of a window without one over the window itself, without
///   b.
///
/// Where both are known, and the update interval was observed on this sensor, b is the `bias`, and
/// a tenth of it is left as common. Where the counter was read at its own pace around
/// both ends, what may have changed within the last updates is left too:
///
///   t = 2 E[a] ((P_before,1 - P_before,4) - (P_end,1 - P_end,4))     over 1 and 4 updates
///
/// Where the interval is only published, or the counter pauses, all of b is common, and a quarter
/// more: boards differ. Where P_before is not known, the power can have been anything: -E[a] P is
/// common, for the larger of the powers at both ends, as if nothing had been drawn before. That
/// holds up to twice that power.
///
/// Where the counter was read on after the end (`seen`) and P_before is known, nothing is lacking
/// there but a tenth of E[a] (P_end - P_after): the power may change later than the command ends.
/// Then b = E[a] P_before, and E[a] is that of the updates that were seen.
///
/// `first`, `last`: what the counter showed at both ends, read directly. `energy`: from the one to
/// the other, all of it known. bench/lab/sum_world.hpp measures all of this.
[[nodiscard]] CounterLag counter_lag(const History& history, const EnergyWindow& window,
                                     const Boundary& first, const Boundary& last, Joules energy,
                                     const std::optional<SeenEnd>& seen);

/// The energy that a counter may lack, or have too much, because it had stopped for a while when it
/// was read at `end`; 0 where the readings before show no longer standstill than usual, or there
/// are none. It is the power before, at least `mean`, for the time since the last reading of
/// another value, and 0.6 times as much for the power in that time. Where no other value was read,
/// the time is four times as long as it is known to have stood still.
[[nodiscard]] Joules standstill_bound(const History& history, const Boundary& end,
                                      Watts mean) noexcept;

}  // namespace wattle
