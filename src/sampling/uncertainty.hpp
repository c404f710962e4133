// How wrong a window's energy can be through the way it was measured. The sensor's own error
// (calibration) is not in here.
#pragma once

#include <chrono>

#include "sensors/sensor.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// What is known about a window whose two ends were read from the counter directly.
struct CounterWindowFacts {
  Watts power_after_begin;  ///< mean power of the first interval, or of the whole window
  Watts power_before_end;   ///< mean power of the last interval, or of the whole window
  std::chrono::nanoseconds begin_half_width;  ///< of the reading at the begin
  std::chrono::nanoseconds end_half_width;
  Joules tick;
  UpdateInterval update;
  /// For an end that lies between two readings: their distance times the change of the mean power
  /// from one side of it to the other. 0 where the end was read directly.
  Joules begin_interpolation{};
  Joules end_interpolation{};
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
///       + (B_begin^2 + B_end^2)/4                          ends between two readings: the change
///       of
///                                                          the power across the bracket times its
///                                                          width, taken as two standard deviations
///
/// c = 0 would be right for a power that never changes, c = 1 for one that is on half of the time,
/// or distributed exponentially. bench/lab decides: c^2 = 4/3 is about the least that covers 95 %
/// under loads that come in bursts, or step from idle to full inside of 10 ms; under a constant
/// load the +- is then about 2.4 times as wide as it need be.
[[nodiscard]] Joules plain_counter_uncertainty(const CounterWindowFacts& window) noexcept;

/// How long ago a counter was last renewed, on average over all instants: E[a] from above.
[[nodiscard]] std::chrono::nanoseconds mean_age(const UpdateInterval& update) noexcept;

/// An end of a window that lies between two readings.
struct InterpolatedEnd {
  Watts before;   ///< mean power over a few updates before it
  Watts after;    ///< the same after it
  Joules change;  ///< the change of the power across the readings around it, times their distance
};

/// What is known about a window that was asked for afterwards.
struct InterpolatedWindowFacts {
  InterpolatedEnd begin;
  InterpolatedEnd end;
  Joules tick;
  UpdateInterval update;
};

/// Expanded uncertainty (k = 2) of such a window's energy, where each end was looked up one mean
/// age E[a] later: what the counter shows then is, on average, the energy up to the end itself.
///
///   u^2 = sum over both ends of (P_before^2 + P_after^2)/2 (tau^2/12 + s^2/4)
///                                     where between its updates the counter was read; the spread
///                                     counts half, as neighbouring readings share an update
///       + (D_begin + D_end)^2/4       a line is drawn across a change: D is the change of power
///                                     times the distance of the readings around it, at least
///                                     |P_after - P_before| sqrt(E[a^2]); taken as two standard
///                                     deviations
///       + tick^2/6                    two roundings to a tick
[[nodiscard]] Joules interpolated_counter_uncertainty(
    const InterpolatedWindowFacts& window) noexcept;

/// What is known about a window whose ends were moved to updates of the counter.
struct AlignedWindowFacts {
  Watts waiting;                           ///< power while waiting for the updates
  Watts waiting_uncertainty;               ///< standard uncertainty of that
  std::chrono::nanoseconds waited;         ///< outside the window, before and after it together
  std::chrono::nanoseconds first_latency;  ///< from the last read of the old value to the next one
  std::chrono::nanoseconds last_latency;
  Joules tick;
};

/// Expanded uncertainty (k = 2) of such a window's energy.
///
/// The counter's difference is exact but for its ticks. What was spent while waiting is taken off:
/// an update took place somewhere between two reads, L apart, which is uniform there, so
///
///   u^2 = P_wait^2 (L_first^2 + L_last^2)/12     when the updates took place
///       + (u_P t_waited)^2                       how well the power of waiting is known
///       + tick^2/6                               two roundings to a tick
[[nodiscard]] Joules aligned_counter_uncertainty(const AlignedWindowFacts& window) noexcept;

/// What is known about a window that a gauge of power was summed up over.
struct GaugeWindowFacts {
  Seconds length;
  std::chrono::nanoseconds spacing;  ///< from one look at the power to the next
  std::chrono::nanoseconds window;   ///< that a value is the mean of; 0 where nobody knows
  double coverage;                   ///< part of the time that is looked at, 0 to 1
  Watts mean;
  /// Time in which a value only held, because the next one never came.
  std::chrono::nanoseconds believed_only;
  double squared_changes_w2;  ///< sum over neighbouring values
  Watts change_at_begin;      ///< by how much the power changed around the begin
  Watts change_at_end;
  Watts change_overall;           ///< from the begin to the end
  std::chrono::nanoseconds tail;  ///< at the end, for which no value had come yet
  Watts step;                     ///< the gauge's resolution
};

/// Expanded uncertainty (k = 2) of such a window's energy.
///
/// Between two looks, h apart, the sensor sees the part c of the time. What it says of the rest
/// errs by the spread of the power from one look to the next, half the mean square change:
///
///   u^2 = h^2 (1 - c) sum(change^2)/2        what happened while nobody looked
///       + (D_begin^2 + D_end^2) h^2/3        the value that holds at an end is up to h old: D is
///                                            by how much the power changed around it
///       + (P_end - P_begin)^2 7/6 h^2        every value is late: by up to h when it is read, and
///       by
///                                            up to h more while it holds; the ends move by the
///                                            same time, and what that costs is how much they
///                                            differ
///       + (D_begin^2 + D_end^2) w^2/64       a mean over w smears a step at an end by w/8 to
///                                            either side
///       + P_mean^2 h^2 (1 - c)^2/12              at least one stretch between two looks could have
///                                            held anything, where all values are the same
///       + 2 (P_mean w/40)^2                      what a mean over w hides is cut off at the ends:
///       a
///                                            ripple of 60 % at three times its pace (bench/lab)
///       + P_mean^2 b^2/3                         for the time b a value only held, before a gap
///       + D_end^2 tail^2                     the last value stands in for what comes late
///       + L^2 step^2/12                      rounding: the same each time while the power is
///       steady
///
/// In simulations of loads that change every 0.05 to 5 s, 2u covered 96 to 100 % of the
/// errors (tests/unit/sampling/uncertainty_coverage_test.cpp).
/// A load that repeats at the sensor's own period cannot be seen in its values, nor in this.
[[nodiscard]] Joules gauge_uncertainty(const GaugeWindowFacts& window) noexcept;

}  // namespace wattle
