#include "sampling/gauges/overlapping_gauge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/numbers/value_range.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

double squared(double x) noexcept { return x * x; }

/// The gauge's value at a time, on the line from one value to the next.
struct InterpolatedValue {
  double level_w = 0.0;
  double slope_w_per_s = 0.0;
  /// The integral of the line up to there, less that of the steps, except for a constant.
  double above_steps_j = 0.0;
};

/// Where a window is cut: at its end, or one window of the gauge inside of it.
struct WindowEdge {
  TimePoint at;
  InterpolatedValue interpolated;
  double tile_j = 0.0;        ///< the energy between the edge and the end
  double tile_slope_w = 0.0;  ///< by how much that changes with each second
  double change_w = 0.0;      ///< of what was shown around the edge
};

class InterpolatedGauge {
 public:
  InterpolatedGauge(const History& history, const GaugeKernel& kernel) noexcept
      : history_(history),
        kernel_(kernel),
        spacing_(history.spacing()),
        late_((history.longest_age() - history.spacing()) / 2),
        scale_(history.channel().scale()) {}

  [[nodiscard]] nanoseconds late() const noexcept { return late_; }
  [[nodiscard]] std::optional<InterpolatedValue> at(TimePoint time) const noexcept;
  /// By how much the slope changes around `time`, as the change of the value over one spacing.
  [[nodiscard]] double bend_w(TimePoint time) const;
  /// By how much the value changed in the window before `time`, or after it, whichever is less.
  [[nodiscard]] double unsteady_w(TimePoint time) const;
  /// An edge at `time`, tiled if the energy from there to the end of the window is that of a value
  /// at `value_at`.
  [[nodiscard]] std::optional<WindowEdge> edge(TimePoint time,
                                               std::optional<TimePoint> value_at) const;

 private:
  [[nodiscard]] double watts(const StoredReading& reading) const noexcept {
    return scale_ * static_cast<double>(reading.raw);
  }
  [[nodiscard]] ValueRange range(TimePoint from, TimePoint to) const;

  const History& history_;
  GaugeKernel kernel_;
  nanoseconds spacing_;
  nanoseconds late_;  ///< from a renewal until it is read, on average
  double scale_;
};

std::optional<InterpolatedValue> InterpolatedGauge::at(TimePoint time) const noexcept {
  const TimePoint shown = time + late_;
  const auto [value, next] = history_.values().at(shown);
  if (!value || shown > value->last_confirmed + history_.hold()) return std::nullopt;
  const double spacing_s = Seconds(spacing_).count();
  const double level_w = watts(*value);
  double rise_w = 0.0;
  double part = 0.0;
  if (next) {
    // A value that was confirmed holds until its last renewal.
    rise_w = watts(*next) - level_w;
    part = std::clamp(1.0 - (next->first_seen - shown) / Seconds(spacing_), 0.0, 1.0);
  } else if (shown - value->first_seen < spacing_) {
    // The line continues with the last slope.
    const auto before = history_.values().at(value->first_seen - kGaugeQuantum).before;
    if (before && value->first_seen - before->last_confirmed < 2 * spacing_) {
      rise_w = level_w - watts(*before);
      part = (shown - value->first_seen) / Seconds(spacing_);
    }
  }
  return InterpolatedValue{.level_w = level_w + rise_w * part,
                           .slope_w_per_s = part > 0.0 ? rise_w / spacing_s : 0.0,
                           .above_steps_j = spacing_s / 2.0 * (level_w + rise_w * part * part)};
}

double InterpolatedGauge::bend_w(TimePoint time) const {
  const TimePoint shown = time + late_;
  ValueRange slopes;
  std::optional<StoredReading> last = history_.values().at(shown - 2 * spacing_).before;
  history_.values().for_each(shown - 2 * spacing_ + nanoseconds(1), shown + 2 * spacing_,
                             [&](const StoredReading& reading) {
                               if (last) {
                                 slopes.add(watts(reading) - watts(*last));
                                 if (2 * (reading.first_seen - last->first_seen) > 3 * spacing_) {
                                   slopes.add(0.0);
                                 }
                               }
                               last = reading;
                             });
  if (last && last->last_confirmed - last->first_seen >= spacing_) slopes.add(0.0);
  return slopes.width();
}

ValueRange InterpolatedGauge::range(TimePoint from, TimePoint to) const {
  ValueRange values;
  if (const auto held = history_.values().at(from + late_).before) values.add(watts(*held));
  history_.values().for_each(from + late_, to + late_,
                             [&](const StoredReading& reading) { values.add(watts(reading)); });
  return values;
}

double InterpolatedGauge::unsteady_w(TimePoint time) const {
  const TimePoint before = time - kernel_.width;
  const TimePoint after = time + kernel_.width;
  const auto oldest = history_.values().oldest();
  const auto newest = history_.values().newest();
  const bool knows_before = oldest && *oldest <= before + spacing_;
  const bool knows_after = newest && *newest + spacing_ >= after;
  const double before_w = range(before, time).width();
  const double after_w = range(time, after).width();
  if (knows_before && knows_after) return std::min(before_w, after_w);
  if (knows_before) return before_w;
  return knows_after ? after_w : std::max(before_w, after_w);
}

std::optional<WindowEdge> InterpolatedGauge::edge(TimePoint time,
                                                  std::optional<TimePoint> value_at) const {
  const std::optional<InterpolatedValue> interpolated = at(time);
  if (!interpolated) return std::nullopt;
  WindowEdge edge{
      .at = time, .interpolated = *interpolated, .change_w = kernel_.lags ? 0.0 : unsteady_w(time)};
  if (value_at) {
    const auto newest = history_.values().newest();
    const std::optional<InterpolatedValue> value = at(*value_at);
    if (!value || !newest || *newest + spacing_ < *value_at) return std::nullopt;
    edge.tile_j = Seconds(kernel_.width).count() * value->level_w;
    edge.tile_slope_w = Seconds(kernel_.width).count() * value->slope_w_per_s;
  }
  return edge;
}

/// The edges between which the rest of a window lies, and the variance of what they smear.
struct WindowEdges {
  WindowEdge first;
  WindowEdge last;
  double smear_j2 = std::numeric_limits<double>::infinity();
};

using EdgeCandidates = std::array<std::optional<WindowEdge>, 2>;

/// The pair where the power was steadiest. Absent where the gauge shows nothing at an end.
std::optional<WindowEdges> steadiest(const EdgeCandidates& starts, const EdgeCandidates& ends,
                                     double width_s) {
  if (!starts[0] || !ends[0]) return std::nullopt;
  WindowEdges best;
  for (const auto& first : starts) {
    for (const auto& last : ends) {
      if (!first || !last) continue;
      const double apart_s = std::abs(Seconds(last->at - first->at).count());
      // bench/lab: the error of a change within the last w has a deviation of 0.18 w.
      const double smear_j2 =
          (squared(first->change_w) + squared(last->change_w)) * squared(width_s) / 30.0;
      const double rest_j2 = squared(std::max(first->change_w, last->change_w) * apart_s) / 12.0;
      const double least_j2 = std::min(smear_j2, rest_j2);
      if (least_j2 < best.smear_j2) best = {.first = *first, .last = *last, .smear_j2 = least_j2};
    }
  }
  return best;
}

/// The sum of the steps of the values, each moved back by its delay.
double steps_j(const History& history, const InterpolatedGauge& gauge, TimePoint from,
               TimePoint to) {
  const auto [begin, end] = std::minmax(from, to);
  const GaugeWindow steps = history.gauge_window(begin + gauge.late(), end + gauge.late());
  const double energy_j = history.channel().scale() * static_cast<double>(steps.raw_ns) / 1e9;
  return to < from ? -energy_j : energy_j;
}

/// When the values were renewed is known to within the time until they are read.
double renewals_j2(const WindowEdges& edges, double delay_s, double late_s) noexcept {
  const InterpolatedValue& first = edges.first.interpolated;
  const InterpolatedValue& last = edges.last.interpolated;
  const double changes_w2 = squared(last.level_w - first.level_w) +
                            squared(delay_s * first.slope_w_per_s) +
                            squared(delay_s * last.slope_w_per_s) +
                            squared(edges.first.tile_slope_w) + squared(edges.last.tile_slope_w);
  return changes_w2 * squared(2.0 * late_s) / 12.0;
}

}  // namespace

std::optional<OverlappingEnergy> overlapping_energy(const History& history,
                                                    const GaugeKernel& kernel, TimePoint begin,
                                                    TimePoint end) {
  if (end - begin < history.spacing()) return std::nullopt;
  if (history.gauge_window(begin, end).known < end - begin) return std::nullopt;
  const InterpolatedGauge gauge(history, kernel);
  EdgeCandidates starts = {gauge.edge(begin, std::nullopt)};
  EdgeCandidates ends = {gauge.edge(end, std::nullopt)};
  if (!kernel.lags) {
    starts[1] = gauge.edge(begin + kernel.width, begin + kernel.width);
    if (end - kernel.width >= begin) ends[1] = gauge.edge(end - kernel.width, end);
  }
  const std::optional<WindowEdges> edges = steadiest(starts, ends, Seconds(kernel.width).count());
  if (!edges) return std::nullopt;

  const double delay_s = Seconds(kernel.delay).count();
  const double spacing_s = Seconds(history.spacing()).count();
  const auto& [first, last, smear_j2] = *edges;
  const double energy_j = first.tile_j + last.tile_j + steps_j(history, gauge, first.at, last.at) +
                          last.interpolated.above_steps_j - first.interpolated.above_steps_j +
                          delay_s * (last.interpolated.level_w - first.interpolated.level_w);
  // A line goes straight where the power changes between two values.
  const double end_bend_w = gauge.bend_w(end);
  const double bends_j2 = (squared(gauge.bend_w(begin)) + squared(end_bend_w)) *
                          squared(delay_s + spacing_s / 2.0) / 30.0;
  return OverlappingEnergy{
      .energy = Joules(energy_j),
      .ends_j2 = smear_j2 + bends_j2 + renewals_j2(*edges, delay_s, Seconds(gauge.late()).count()),
      .power_change_at_end = Watts(2.0 * end_bend_w * (1.0 + delay_s / spacing_s))};
}

}  // namespace wattle
