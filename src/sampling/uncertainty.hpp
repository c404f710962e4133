// How wrong a window's energy can be through the way it was measured. The sensor's own error
// (calibration) is not in here.
#pragma once

#include <chrono>

#include "sensors/sensor.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// What is known about a window whose two ends were read from the counter directly.
struct CounterWindowFacts {
  Joules energy;
  Seconds length;
  Watts power_after_begin;  ///< mean power of the first interval, or of the whole window
  Watts power_before_end;   ///< mean power of the last interval, or of the whole window
  std::chrono::nanoseconds begin_half_width;  ///< of the reading at the begin
  std::chrono::nanoseconds end_half_width;
  Joules tick;
  UpdateInterval update;
};

/// Expanded uncertainty (k = 2) of the energy of such a window.
///
/// A counter shows the energy up to its last update. At a random instant that update is an age a
/// back, whose moments follow from the mean tau and the spread s of the update interval:
///
///   E[a]   = tau/2 + s^2/(2 tau)
///   E[a^2] = tau^2/3 + s^2           without the skewness of the intervals
///
/// So the window gains what was spent in the age before its begin, and lacks what was spent in the
/// age before its end: the error is P_begin a_begin - P_end a_end, with independent ages, and with
/// the powers just there. These are not seen: what is known are means P over stretches that are
/// long beside an update, and of power before the begin nothing at all. A power P + d whose
/// deviation d has the mean 0 and the variance c^2 P^2 at each end gives
///
///   u^2 = (P_begin^2 + P_end^2) (E[a^2] - E[a]^2)          how old the values are
///       + (P_begin - P_end)^2 E[a]^2                       the mean ages cancel where the powers
///                                                          are the same; raw energies are told,
///                                                          so the bias counts as uncertainty
///       + c^2 (P_begin^2 + P_end^2) E[a^2]                 powers that are not seen
///       + tick^2/6                                         two roundings to a tick
///       + (P_begin^2 h_begin^2 + P_end^2 h_end^2)/3        when exactly the reads took place
///
/// c = 0 would be right for a power that never changes, c = 1 for one that is on half of the time,
/// or distributed exponentially. bench/lab decides: c^2 = 4/3 is about the least that covers 95 %
/// under loads that come in bursts, or step from idle to full inside of 10 ms; under a constant
/// load the +- is then about 2.4 times as wide as it need be.
[[nodiscard]] Joules plain_counter_uncertainty(const CounterWindowFacts& window) noexcept;

}  // namespace wattle
