// How wrong a window's energy can be through the way it was measured. The sensor's own error
// (calibration) is not in here.
#pragma once

#include <chrono>

#include "sensors/sensor.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// A window whose two ends were read from the counter directly.
struct CounterWindowFacts {
  /// Just before the start; where that is not known the highest mean power over the first few
  /// updates, or of the window.
  Watts power_at_begin;
  Watts power_before_end;  ///< highest mean power over the last few updates, or of the window
  std::chrono::nanoseconds begin_half_width;  ///< of the reading at the start
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
/// One that pauses has intervals that are anything but alike. With the longest of them, m, it is at
/// most 2/3 E[a] m, and that is used: with the 99th percentile for m where pauses are common enough
/// to be in it, else with 15 s.
///
/// So the window gains what was spent in the age before its start, and lacks what was spent in the
/// age before its end: the error is P_begin a_begin - P_end a_end, with independent ages, and with
/// the powers just there. These are not seen: what is known are means P over intervals that are
/// long beside an update, and of power before the start nothing at all. A power P + d whose
/// deviation d has the mean 0 and the variance c^2 P^2 at each end gives
///
///   u^2 = (P_begin^2 + P_end^2) (E[a^2] - E[a]^2)     how old the values are
///       + (P_begin - P_end)^2 E[a]^2       the mean ages cancel where the powers are the same; raw
///                                          energies are reported, so the bias is uncertainty
///       + c^2 (P_begin^2 + P_end^2) E[a^2]     powers that are not seen
///       + tick^2/6                         two roundings to a tick
///       + (P_begin^2 h_begin^2 + P_end^2 h_end^2)/3     when exactly the reads took place
///       + (B_begin^2 + B_end^2)/4          ends between two readings: the change of the power
///                                          across the bracket times its width, taken as two
///                                          standard deviations
///
/// c = 0 would be right for a power that never changes, c = 1 for one that is on half of the time,
/// or distributed exponentially. bench/lab decides: c^2 = 4/3 is about the least that covers 95 %
/// under loads that come in bursts, or step from idle to full inside of 10 ms; under a constant
/// load the +- is then about 2.4 times as wide as it need be.
[[nodiscard]] Joules plain_counter_uncertainty(const CounterWindowFacts& window) noexcept;

/// The same of an energy whose ends were rounded down to multiples of `quantum`: a multiple of it,
/// so that it shows no more than the energy does.
[[nodiscard]] Joules rounded_uncertainty(Joules uncertainty, Joules quantum) noexcept;

/// How long ago a counter was last renewed, on average over all instants: E[a] from above.
[[nodiscard]] std::chrono::nanoseconds mean_age(const UpdateInterval& update) noexcept;

/// True of a counter that stops for a while now and then: its intervals differ by more than half of
/// what they are long.
[[nodiscard]] bool pauses(const UpdateInterval& update) noexcept;

/// An end of a window that lies between two readings.
struct InterpolatedEnd {
  Watts before;   ///< mean power over a few updates before it
  Watts after;    ///< the same after it
  Joules change;  ///< the change of the power across the readings around it, times their distance
};

/// A window that was requested afterwards.
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
///       + (D_begin + D_end)^2/12      a line is drawn across a change: D is the change of power
///                                     times the distance of the readings around it, at least
///                                     |P_after - P_before| sqrt(E[a^2]). A step somewhere between
///                                     two points of a line costs up to D/4; that the points are
///                                     updates, which are older than the readings, as much again.
///                                     So it is anything from 0 to D/2 (mean square D^2/12), and in
///                                     the worst case the same way at both ends
///       + tick^2/6                    two roundings to a tick
[[nodiscard]] Joules interpolated_counter_uncertainty(
    const InterpolatedWindowFacts& window) noexcept;

/// A window whose ends were moved to updates of the counter.
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

/// A window over which a gauge of power was summed up.
struct GaugeWindowFacts {
  Seconds length;
  std::chrono::nanoseconds spacing;  ///< from one sample of the power to the next
  std::chrono::nanoseconds window;   ///< that a value is the mean of; 0: unknown
  double coverage;                   ///< part of the time that is sampled, 0 to 1
  Watts mean;
  /// Time in which a value only held, because the next one never came.
  std::chrono::nanoseconds held_only;
  double scatter_w2;      ///< sum over the samples (see GaugeSpread)
  Watts change_at_begin;  ///< by how much the power changed around the start
  Watts change_at_end;
  Watts change_overall;  ///< from the start to the end; its sign is ignored
  /// How late all values are on average, where that was not allowed for.
  std::chrono::nanoseconds lateness;
  /// By how much the values of one window may be later than those of another: the sensor's update
  /// interval or the reader's period, whichever is shorter.
  std::chrono::nanoseconds lateness_range;
  /// How old the newest value may be, where the window ends with it; 0 where later ones are known.
  std::chrono::nanoseconds open_end;
  Watts change_since;  ///< by how much the power may have changed since then, over one spacing
  Watts step;          ///< the gauge's resolution
  double variance_w2 = 0.0;  ///< of the power inside the window
  /// Sum of the squares of its changes from sample to sample, if a lateness that drifts by r
  /// costs r^2 of each.
  double drifting_w2 = 0.0;
  /// Gauge and reader overtake each other: the lateness drifts, and falls back by `lateness_range`.
  bool overtakes = true;
  /// The most that the power fell, and for how long the gauge may go on to show a value from
  /// before.
  Watts fall{};
  std::chrono::nanoseconds freezes{0};
  /// Variance of what the ends add, where that is known from how the energy was found, in J^2.
  double ends_j2 = 0.0;
};

/// Expanded uncertainty (k = 2) of such a window's energy.
///
/// Between two samples, h apart, the sensor sees the part c of the time, w = c h of it. A value is
/// late by the age of what it is the mean of, by up to an update interval when it is read, and by
/// up to the reader's period more while it holds. Where w is known, that is allowed for on average.
///
///   u^2 = h^2 (1 - c)(1 + c/2) scatter    what happened between samples. The mean of what is
///                                         seen is used for the rest: (1 - c)^2 times the sum
///                                         of both variances, and of a power that holds for about
///                                         w at a time that of the unseen part is 3c / (2 - 2c) of
///                                         the seen one's
///       + P_mean^2 h^2 (1 - c)^2/24       at least one interval between samples could have held
///                                         another power, 0.7 times the mean more or less, where
///                                         all values are the same
///       + (D_begin^2 + D_end^2) h^2/12 (1 + 2c)/3   an end cuts the time that one of the values
///                                         around it holds for: D is by how much they differ. A
///                                         step takes place within +-h/2 of where they show it. If
///                                         samples are short it is the one that is cut in one of
///                                         three cases; means over all of h smear it to each
///       + (D_begin^2 + D_end^2) l^2/3     lateness l that was not allowed for: the value that
///                                         holds at an end is up to l old
///       + (P_end - P_begin)^2 (l^2 + r^2/12)   it moves both ends by the same time, and what that
///                                         costs is how much they differ; what was allowed for is
///                                         known to r only
///       + (D_begin^2 + D_end^2) w^2/64    a mean over w smears a step at an end by w/8 to either
///                                         side
///       + D_end^2 w^2/16                  where the end is open, the newest mean is used for its
///                                         own second half: off by up to D w/2, two standard
///                                         deviations
///       + D_now^2 a^3/(3 h)               and for the age a of that value, without a sample:
///                                         the square of a change grows with the time
///       + min((0.006 + 0.008 n) L r var(P), r^2 drifting)
///                                         lateness drifts: gauge and reader beat, up to 1.2 %
///                                         apart, 0.58 % on average. Whenever one of them
///                                         overtakes the other, a value is counted once more or
///                                         once less, for r. It does not matter but where the power
///                                         changes, and there for no more than r. Where that
///                                         happens less than once, n = r / (0.012 L) is 1: few
///                                         errors, but large ones
///       + 2 (0.11 P_mean w)^2             what a mean over w hides is cut off at the ends: the rms
///                                         of what a square wave at its pace holds there,
///                                         (4/pi) d/(2 pi sqrt(2)) for a swing of d times the mean:
///                                         d = 0.77, more than from 63 to 400 W. Means over more
///                                         than 1.5 h show most ripples; 0.0225, a ripple of 60 %
///                                         at three times their pace (bench/lab)
///       + D_fall^2 z^2/7.5                after a fall by D a gauge that freezes goes on to show
///                                         what was before, for up to z
///       + P_mean^2 b^2/3                  for the time b a value only held, before a gap
///       + ends                            of an energy that was found from values that overlap,
///                                         instead of what cuts and smears above
///       + L^2 step^2/12                   rounding: always the same while the power is steady
///
/// In simulations of loads that change every 0.05 to 5 s, 2u covered 95 to 100 % of the errors
/// (tests/unit/sampling/uncertainty_coverage_test.cpp), in bench/lab at least 95 % but where a
/// load repeats at, or near to, the pace of a sensor that misses time: neither its values nor this
/// uncertainty show that.
[[nodiscard]] Joules gauge_uncertainty(const GaugeWindowFacts& window) noexcept;

/// The part of it for the time between two samples: its first two terms.
[[nodiscard]] Joules unseen_uncertainty(const GaugeWindowFacts& window) noexcept;

}  // namespace wattle
