// A counter that adds up what a gauge of power shows misses what the gauge misses, and none of its
// own readings shows that. Beside the gauge's values they do.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "sampling/energy_figure.hpp"
#include "sampling/history.hpp"

namespace wattle {

/// True for a gauge of a device's power that averages over a part of each of its updates.
[[nodiscard]] bool rests_between_updates(const Channel& gauge) noexcept;

/// How well a gauge's values account for what a counter counted, from one value of the counter to
/// the next: such a piece is one update of the gauge long, or more where the counter is read less
/// often.
///
/// A counter that adds up the gauge's values counts, but for times and intervals that are not known
/// better, what they say; all of them must have been seen. One that sees all the time differs from
/// it by what the gauge does not see, whose variance the values show (`unseen_part`). It is taken
/// from how they bend: a power that changes steadily hides nothing. Of pieces of many updates it is
/// no more than how the pieces themselves bend: a load that repeats itself in each of them hides
/// the same in each.
///
/// It is not known how much later the one shows a power than the other, nor how long an update is
/// to 3 %: those are taken that fit best. Where gauge and reader overtake each other an update is
/// missed, or counted twice: the worst twenty-fifth is left out.
struct FeedEvidence {
  std::size_t pieces = 0;
  /// By how much counter and values differ, as a part of what is expected of a counter that sees
  /// all the time; in squares.
  double apart = 0.0;
  /// The part of that which comes from times alone.
  double timing = 0.0;
  /// How many pieces show something: those that bend, by how much they do.
  double telling = 0.0;
  /// The counter's mean power over that of the values, less 1.
  double apart_on_average = 0.0;
  /// By how much that can be because times are not known better.
  double average_doubt = 0.0;

  [[nodiscard]] CounterFeed feed() const noexcept;
};

/// From the readings of the last 300 updates before `end`, no piece shorter than an update. Nothing
/// where the gauge was read too rarely to see each of its updates.
[[nodiscard]] FeedEvidence feed_evidence(const History& counter, const History& gauge,
                                         TimePoint end);

/// Gives a counter's figure what is known of how much of the time the counter sees. `gauge`: of the
/// same domain, `summed` its figure of the same window.
///
/// - The counter is known to see all the time, or differs from the gauge's values: nothing.
/// - It adds up these values: the gauge's coverage, `partial_coverage`, and the part of the gauge's
///   uncertainty that is for the time it does not see.
/// - Neither is known: `coverage_unknown`.
///
/// Nothing too for a gauge that does not rest between its updates, or that shows nothing of the
/// window, and for a counter that is not renewed in it.
void add_feed(EnergyFigure& counted, const History& counter, const History& gauge,
              const EnergyFigure& summed, TimePoint end);

/// True if nobody knows what a sensor's counter adds up, and a gauge beside it can show it.
[[nodiscard]] bool is_feed_open(const Sensor& sensor) noexcept;

/// Reads both for `length` with a millisecond between readings. `goes_on`: as of `observe`.
[[nodiscard]] CounterFeed watch_feed(Sensor& sensor, std::chrono::nanoseconds length,
                                     const TimeSource& clock, const std::function<bool()>& goes_on);

}  // namespace wattle
