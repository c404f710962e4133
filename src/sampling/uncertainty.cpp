#include "sampling/uncertainty.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/gauges/gauge_spread.hpp"

namespace wattle {
namespace {

constexpr double kCoverageFactor = 2.0;

double square(double x) noexcept { return x * x; }

/// E[a^2] in s^2 (see the header).
double age_square_s2(const UpdateInterval& update) noexcept {
  const double regular_s2 =
      square(Seconds(update.mean).count()) / 3.0 + square(Seconds(update.spread).count());
  if (!pauses(update)) return regular_s2;
  constexpr int kRarest = 15;  // of 1 in 225 intervals
  const bool is_common = update.p99 > update.mean + 2 * update.spread;
  const Seconds longest(is_common ? update.p99 : kRarest * update.spread);
  return std::max(regular_s2, 2.0 / 3.0 * Seconds(mean_age(update)).count() * longest.count());
}

}  // namespace

Joules plain_counter_uncertainty(const CounterWindowFacts& window) noexcept {
  const double begin_w = window.power_at_begin.si();
  const double end_w = window.power_before_end.si();
  const double both_w2 = square(begin_w) + square(end_w);

  const double age_s = Seconds(mean_age(window.update)).count();
  const double ages_s2 = age_square_s2(window.update);
  constexpr double kUnseenVariance = 4.0 / 3.0;

  const double ages = both_w2 * (ages_s2 - square(age_s));
  const double step = square((begin_w - end_w) * age_s);
  const double unseen = both_w2 * kUnseenVariance * ages_s2;
  const double rounding = square(window.tick.si()) / 6.0;
  const double reads = (square(begin_w * Seconds(window.begin_half_width).count()) +
                        square(end_w * Seconds(window.end_half_width).count())) /
                       3.0;
  const double between =
      (square(window.begin_interpolation.si()) + square(window.end_interpolation.si())) / 4.0;
  return Joules(kCoverageFactor * std::sqrt(ages + step + unseen + rounding + reads + between));
}

Joules rounded_uncertainty(Joules uncertainty, Joules quantum) noexcept {
  // Plus one for both roundings together.
  return (std::ceil(uncertainty / quantum) + 1.0) * quantum;
}

Joules interpolated_counter_uncertainty(const InterpolatedWindowFacts& window) noexcept {
  const double tau_s = Seconds(window.update.mean).count();
  const double spread_s = Seconds(window.update.spread).count();
  const double placed_s2 = square(tau_s) / 12.0 + square(spread_s) / 4.0;
  const double ages_s2 = age_square_s2(window.update);
  double ends = 0.0;
  double changes_j = 0.0;
  for (const InterpolatedEnd& end : {window.begin, window.end}) {
    ends += (square(end.before.si()) + square(end.after.si())) / 2.0 * placed_s2;
    const double across_j = std::abs((end.after - end.before).si()) * std::sqrt(ages_s2);
    changes_j += std::max(end.change.si(), across_j);
  }
  const double rounding = square(window.tick.si()) / 6.0;
  return Joules(kCoverageFactor * std::sqrt(ends + square(changes_j) / 12.0 + rounding));
}

bool pauses(const UpdateInterval& update) noexcept { return 2 * update.spread > update.mean; }

std::chrono::nanoseconds mean_age(const UpdateInterval& update) noexcept {
  if (!update.known()) return {};
  const double tau_s = Seconds(update.mean).count();
  const double age_s = tau_s / 2.0 + square(Seconds(update.spread).count()) / (2.0 * tau_s);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(age_s));
}

Joules aligned_counter_uncertainty(const AlignedWindowFacts& window) noexcept {
  const double latencies_s2 =
      square(Seconds(window.first_latency).count()) + square(Seconds(window.last_latency).count());
  const double updates = square(window.waiting.si()) * latencies_s2 / 12.0;
  const double waited = square((window.waiting_uncertainty * Seconds(window.waited)).si());
  const double rounding = square(window.tick.si()) / 6.0;
  return Joules(kCoverageFactor * std::sqrt(updates + waited + rounding));
}

Joules unseen_uncertainty(const GaugeWindowFacts& window) noexcept {
  const double coverage = std::min(window.coverage, 1.0);
  const double spacing_s = Seconds(window.spacing).count();
  const double unseen = square(spacing_s) * unseen_part(coverage) * window.scatter_w2;
  const double looked_away = square(window.mean.si() * spacing_s * (1.0 - coverage)) / 24.0;
  return Joules(kCoverageFactor * std::sqrt(unseen + looked_away));
}

Joules gauge_uncertainty(const GaugeWindowFacts& window) noexcept {
  const double spacing_s = Seconds(window.spacing).count();
  const double mean_of_s = Seconds(window.window).count();
  const double late_s = Seconds(window.lateness).count();
  const double range_s = Seconds(window.lateness_range).count();
  const double open_s = Seconds(window.open_end).count();
  const double coverage = std::min(window.coverage, 1.0);
  const double mean_w = window.mean.si();
  const double end_w2 = square(window.change_at_end.si());
  const double edges_w2 = square(window.change_at_begin.si()) + end_w2;

  const double edges = edges_w2 * (square(spacing_s) * (1.0 + 2.0 * coverage) / 36.0 +
                                   square(late_s) / 3.0 + square(mean_of_s) / 64.0);
  const double delay =
      square(window.change_overall.si()) * (square(late_s) + square(range_s) / 12.0);
  double open = 0.0;
  if (open_s > 0.0) {
    const double since_w2 = square(window.change_since.si()) * open_s / spacing_s;
    open = end_w2 * square(mean_of_s) / 16.0 + since_w2 * square(open_s) / 3.0;
  }
  constexpr double kRippleOfWindow = 0.11;
  constexpr double kRippleOfOverlapping = 0.0225;
  // A board that is renewed a little less often than stated does not overlap for that.
  const bool overlaps = mean_of_s > 1.5 * spacing_s;
  const double ripple = overlaps ? kRippleOfOverlapping : kRippleOfWindow;
  const double hidden = 2.0 * square(ripple * mean_w * mean_of_s);
  constexpr double kMostApart = 0.012;
  const double length_s = window.length.count();
  const double few = range_s > 0.0 ? std::min(1.0, range_s / (kMostApart * length_s)) : 0.0;
  const double overtaken_j2 = (0.006 + 0.008 * few) * length_s * window.variance_w2 * range_s;
  const double drifting_j2 = window.drifting_w2 * square(range_s);
  const double drift = window.overtakes ? std::min(overtaken_j2, drifting_j2) : drifting_j2;
  const double frozen = square(window.fall.si() * Seconds(window.freezes).count()) / 7.5;
  const double believed = square(mean_w * Seconds(window.held_only).count()) / 3.0;
  const double rounding = square(window.length.count() * window.step.si()) / 12.0;
  const double others =
      edges + delay + open + hidden + drift + frozen + believed + rounding + window.ends_j2;
  return Joules(std::hypot(unseen_uncertainty(window).si(), kCoverageFactor * std::sqrt(others)));
}

}  // namespace wattle
