#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/numbers/uint128.hpp"
#include "sampling/filtered_gauge.hpp"
#include "sampling/gauges/gauge_kernel.hpp"
#include "sampling/gauges/gauge_spread.hpp"
#include "sampling/gauges/overlapping_gauge.hpp"
#include "sampling/gauges/work_start.hpp"
#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// The part of the time that samples cover which are `spacing` apart.
double seen_by(const GaugeKernel& kernel, nanoseconds spacing) noexcept {
  // A sensor that is renewed a little sooner than stated shows values that are never read: ten
  // boards of one model took 99 to 101 ms (github.com/JimZeyuYang/GPU_Power_Benchmark).
  constexpr double kBetweenBoards = 1.01;
  if (!kernel.lags)
    return std::min(1.0, Seconds(kernel.width) / (kBetweenBoards * Seconds(spacing)));
  // The sum weighs the time by e^(-age / delay) from each sample on. The variance of these weights
  // is x coth(x) - 1 for x = spacing / (2 delay), and 1/c - 1 for windows that see the part c.
  const double x = Seconds(spacing) / (2.0 * Seconds(kernel.delay));
  return std::tanh(x) / x;
}

/// Up to this number of samples, all readings of a window are used.
constexpr std::int64_t kMostSamples = 1000;

/// `time`, or the first reading after it if no value is valid at `time`.
TimePoint known_from(const History& history, TimePoint time) noexcept {
  const auto [before, after] = history.values().at(time);
  if (before && before->last_confirmed + history.hold() >= time) return time;
  return after ? after->first_seen : time;
}

/// The spread of a long window: from the readings next to its ends, and the squares of the changes
/// in between, which the timeline sums up.
GaugeSpread spread_of_long(const History& history, GaugeSpread spread, TimePoint begin,
                           TimePoint end, nanoseconds near, TimePoint until) {
  struct Added {
    TimePoint first_seen;
    Uint128 changes;
  };
  const double scale = history.channel().scale();
  const nanoseconds spacing = history.spacing();
  std::optional<Added> last;
  const auto add = [&](const StoredReading& reading, Uint128 changes) {
    spread.add(reading, scale * static_cast<double>(reading.raw));
    last = Added{.first_seen = reading.first_seen, .changes = changes};
  };
  const TimePoint begin_from = known_from(history, begin - near);
  const TimePoint begin_until = begin_from + 2 * near;
  history.values().for_each_change(begin_from, begin_until,
                                   [&](const StoredReading& reading, Uint128 changes) {
                                     if (reading.last_confirmed + history.hold() < begin_from)
                                       return;
                                     add(reading, changes);
                                   });

  constexpr int kForThePattern = 24;  // samples that show whether it comes back after up to 8
  const TimePoint since = end - near - kForThePattern * spacing;
  const nanoseconds between = positive(since - begin_until);
  bool is_first = true;
  history.values().for_each_change(
      since, until, [&](const StoredReading& reading, Uint128 changes) {
        // The known time can start so late that both ends see the same readings.
        if (last && reading.first_seen <= last->first_seen) return;
        if (is_first && last) {
          spread.leave_out(static_cast<double>(changes - last->changes) * scale * scale,
                           scale * static_cast<double>(reading.raw), between);
        }
        is_first = false;
        add(reading, changes);
      });
  return spread;
}

/// `near`: how far from an end what a value says can be from. `last`: later readings do not count.
GaugeSpread spread_of(const History& history, TimePoint begin, TimePoint end, nanoseconds near,
                      TimePoint last) {
  const double scale = history.channel().scale();
  const TimePoint until = std::min(end + near, last);
  const TimePoint newest = std::min({end, last, history.values().newest().value_or(end)});
  const bool is_long = newest - begin > kMostSamples * history.spacing();
  GaugeSpread spread(begin + near, newest - near, history.spacing(), history.period(), !is_long);
  if (is_long)
    return spread_of_long(history, spread, begin, newest, near, std::min(newest + near, until));
  const auto add = [&](const StoredReading& reading) {
    spread.add(reading, scale * static_cast<double>(reading.raw));
  };
  const TimePoint first = begin - near;
  const auto held = history.values().at(first).before;
  if (held && held->last_confirmed + history.hold() >= first) add(*held);
  history.values().for_each(first, until, add);
  return spread;
}

/// The end of a window that is moved back by `lag`, without a value yet: nothing waits for the
/// means that will cover it. The newest value is used for it.
struct UnseenTail {
  nanoseconds length{0};
  std::uint64_t raw = 0;
  bool is_estimated = false;  ///< beyond the time for which the value is valid
};

/// `last`: values that were read later do not count.
UnseenTail unseen_tail(const History& history, TimePoint begin, TimePoint end, nanoseconds lag,
                       TimePoint last) noexcept {
  const auto [held, next] = history.values().at(std::min(end + lag, last));
  if (!held || (next && next->first_seen <= last)) return {};
  const TimePoint believed_until = held->last_confirmed + history.valid_for();
  if (believed_until < end) return {};
  const TimePoint from = std::min(believed_until, last);
  return {.length = positive(end + lag - std::max(from, begin + lag)),
          .raw = held->raw,
          .is_estimated = believed_until < end + lag};
}

/// The time before unknown intervals in which a value was not confirmed by another reading. 0 where
/// it was confirmed until then.
nanoseconds held_only(const History& history, TimePoint begin, TimePoint end) {
  nanoseconds sum{0};
  const auto add_before = [&](TimePoint from, TimePoint /*to*/) {
    const auto value = history.values().at(from).before;
    if (from > begin && value) sum += positive(from - std::max(begin, value->last_confirmed));
  };
  history.visit_unknown(begin, end, std::ref(add_before));  // allocates nothing
  return sum;
}

/// By how many times as much the power may go on to change, where the newest value is the first to
/// show a change. A sample shows a whole step, or the start of a ramp; a mean that is renewed just
/// after a step shows any part, however small, of what the next one will. In bench/lab, 4 covers
/// 96 % of the windows in which the power steps somewhere, 2 a little less than 95 %.
constexpr double kMoreAfterLook = 2.0;
constexpr double kMoreAfterMean = 4.0;

/// How often a gauge is renewed and read. As `History` has it.
struct GaugePace {
  nanoseconds period;
  nanoseconds update;
  nanoseconds longest_age;

  [[nodiscard]] nanoseconds spacing() const noexcept { return std::max(period, update); }
  /// By how much the values of one window may be later than those of another: the sensor's update
  /// interval or the reader's period, whichever is shorter.
  [[nodiscard]] nanoseconds lateness_range() const noexcept { return longest_age - spacing(); }
  /// True where the reader meets the sensor's renewals at the same phase again and again, so that
  /// what a value is late changes slowly; otherwise it is another one at each reading.
  [[nodiscard]] bool is_in_step() const noexcept {
    if (period <= update) return true;
    const double updates = period / Seconds(update);
    constexpr double kNear = 0.05;
    return std::abs(updates - std::round(updates)) < kNear * updates;
  }
};

GaugePace pace_of(const History& history) noexcept {
  return {
      .period = history.period(), .update = history.update(), .longest_age = history.longest_age()};
}

/// How often a change of the power is seen in the values, where their lateness drifts: all samples
/// at once where they are in step with the sensor, and otherwise one by one.
double drifting_changes_w2(const GaugePace& pace, const GaugeKernel& kernel,
                           const GaugeSpread& spread, double overlap) {
  constexpr double kOfAChange = 1.0 / 6.0;
  constexpr double kOfAChangeByItself = 1.0 / 12.0;
  constexpr double kOfABend = 0.15;
  if (pace.is_in_step()) return kOfAChange * overlap * spread.changes_w2();
  return kernel.lags ? kOfABend * spread.bends_w2() : kOfAChangeByItself * spread.changes_w2();
}

/// Values that are late move both ends of a window by the same time: what comes back in each window
/// of the same kind is that times the power before less the power at the end. Of what was allowed
/// for, `kLeftOfLag` is left. And a change at the start is smeared over the values around it: of a
/// run that starts with it, a part falls before the window. Of the deviations from a mean lateness
/// half are late, 0.4 standard deviations on average; readings that start with the run smear more.
Joules common_of(const GaugeKernel& kernel, const GaugePace& pace, const GaugeSpread& spread,
                 bool is_moved) {
  constexpr double kLeftOfLag = 0.1;
  constexpr double kSmeared = 0.5;
  if (!is_moved) return Joules() - spread.overall_rise() * Seconds(pace.spacing());
  const auto squared = [](nanoseconds time) { return std::pow(Seconds(time).count(), 2.0); };
  const double spread_s =
      std::sqrt((squared(pace.update) + squared(pace.period) + squared(kernel.width)) / 12.0);
  const Seconds late =
      kLeftOfLag * Seconds(kernel.delay + pace.longest_age / 2) + Seconds(kSmeared * spread_s);
  return Joules() - spread.overall_rise() * late;
}

/// The properties of a window's values besides their scatter.
struct SeenValues {
  bool is_moved = false;  ///< the window was, by how late they are
  bool is_open = true;    ///< none is later than the window
  nanoseconds held_only{0};
};

/// Adds its uncertainty to what is known of the window already. `ends`: absent if the values do not
/// overlap.
void add_uncertainty(EnergyFigure& figure, const Channel& channel, const GaugePace& pace,
                     const GaugeSpread& spread, const SeenValues& values,
                     const std::optional<OverlappingEnergy>& ends) {
  const GaugeKernel kernel = kernel_of(channel.gauge);
  const nanoseconds spacing = pace.spacing();
  const nanoseconds range = pace.lateness_range();
  const nanoseconds freezes = channel.gauge.freezes;
  // Neighbours among means that overlap differ by that much less than the power does.
  const double overlap = std::max(1.0, Seconds(kernel.width) / Seconds(spacing));
  const double seen = seen_by(kernel, spacing);
  constexpr double kAllTheTime = 0.9;
  const double just_begun = seen > kAllTheTime ? kMoreAfterMean : kMoreAfterLook;
  const GaugeSampling sampling = {
      .coverage = seen,
      .jitter = pace.period > pace.update ? range / Seconds(spacing) : 0.0,
      .lags = kernel.lags};
  const auto unless_ends = [&](Watts change) { return ends ? Watts() : change; };
  const GaugeWindowFacts facts = {.length = figure.known,
                                  .spacing = spacing,
                                  .window = kernel.lags ? range : kernel.width,
                                  .coverage = seen,
                                  .mean = figure.mean.value_or(Watts()),
                                  .held_only = values.held_only,
                                  .scatter_w2 = spread.scatter_w2(sampling),
                                  .change_at_begin = unless_ends(spread.begin_change()),
                                  .change_at_end = unless_ends(spread.end_change()),
                                  .change_overall = unless_ends(spread.overall_rise()),
                                  .lateness = values.is_moved ? nanoseconds(0) : spacing + freezes,
                                  .lateness_range = range,
                                  .open_end = values.is_open ? pace.update : nanoseconds(0),
                                  .change_since = kernel.lags && ends
                                                      ? ends->power_change_at_end
                                                      : spread.change_since(just_begun) * overlap,
                                  .step = Watts(channel.scale()),
                                  .variance_w2 = spread.variance_w2(),
                                  .drifting_w2 = drifting_changes_w2(pace, kernel, spread, overlap),
                                  .overtakes = pace.is_in_step() || !kernel.lags,
                                  .fall = spread.fall(),
                                  .freezes = std::min(freezes, spread.longest_hold()),
                                  .ends_j2 = ends ? ends->ends_j2 : 0.0};
  figure.uncertainty = gauge_uncertainty(facts);
  figure.unseen_uncertainty = unseen_uncertainty(facts);
  figure.common = common_of(kernel, pace, spread, values.is_moved || ends);
}

/// The same of a history. `lag`: by how much values are moved back; 0 where their averaging window
/// is unknown.
void add_uncertainty(EnergyFigure& figure, const History& history, TimePoint begin, TimePoint end,
                     nanoseconds lag, TimePoint last,
                     const std::optional<OverlappingEnergy>& ends) {
  const GaugeKernel kernel = kernel_of(history.channel().gauge);
  const GaugeSpread spread =
      spread_of(history, begin + lag, end + lag, history.spacing() + kernel.width, last);
  const auto [shown, later] = history.values().at(end + lag);
  const bool has_later = later || (shown && shown->last_confirmed > end + lag);
  const SeenValues values = {.is_moved = lag > nanoseconds(0),
                             .is_open = !has_later || last < end + lag,
                             .held_only = held_only(history, begin, end)};
  add_uncertainty(figure, history.channel(), pace_of(history), spread, values, ends);
}

/// One value stands for the whole of a window that is shorter than a sample, and may be older than
/// it: a bound, but no power. What is common to windows is a part of the whole.
void bound(EnergyFigure& figure, bool is_short) {
  if (is_short) {
    figure.flags.set(Flag::short_window);
    figure.mean.reset();
    figure.uncertainty = std::max(figure.uncertainty, *figure.energy);
  }
  figure.common = std::clamp(figure.common, Joules() - figure.uncertainty, figure.uncertainty);
}

void set_coverage(EnergyFigure& figure, const GaugeTraits& gauge, const GaugeKernel& kernel,
                  nanoseconds spacing) noexcept {
  if (gauge.window || gauge.time_constant) {
    figure.coverage = std::min(1.0, Seconds(kernel.width) / Seconds(spacing));
    if (misses_time(*figure.coverage)) figure.flags.set(Flag::partial_coverage);
  } else {
    figure.flags.set(Flag::coverage_unknown);
  }
}

}  // namespace

Flags coverage_flags(const History& gauge) noexcept {
  const GaugeTraits& traits = gauge.channel().gauge;
  EnergyFigure figure;
  set_coverage(figure, traits, kernel_of(traits), gauge.spacing());
  return figure.flags;
}

EnergyFigure gauge_energy(const History& history, TimePoint begin, TimePoint end,
                          std::optional<TimePoint> work_read_until) {
  const Channel& channel = history.channel();
  EnergyFigure figure{.method = Method::integrated,
                      .metric = channel.metric,
                      .quantity = to_string(channel.metric),
                      .ends_are_seen = true};
  set_update(figure, channel.update);
  const nanoseconds length = positive(end - begin);
  const GaugeKernel kernel = kernel_of(channel.gauge);
  // A value shows the power in the middle of its window. On average it is half an update old when
  // it is read, and holds for half a period more: together half of its longest age.
  nanoseconds lag =
      kernel.delay > nanoseconds(0) ? kernel.delay + history.longest_age() / 2 : nanoseconds(0);
  const nanoseconds spacing = history.spacing();
  std::optional<OverlappingEnergy> overlapping;
  if (kernel.overlaps(spacing)) overlapping = overlapping_energy(history, kernel, begin, end);
  if (overlapping) lag = pace_of(history).lateness_range() / 2;

  figure.flags = history.condition(begin, end).flags;
  // For the end of work its last value is better than those that show what comes then.
  const TimePoint last = work_read_until.value_or(TimePoint::max());
  GaugeWindow seen =
      history.gauge_window(begin + lag, std::max(begin + lag, std::min(end + lag, last)));
  const UnseenTail tail = unseen_tail(history, begin, end, lag, last);
  seen.raw_ns += Uint128{tail.raw} * static_cast<std::uint64_t>(tail.length.count());
  seen.known += tail.length;
  if (tail.length > nanoseconds(0) && tail.is_estimated) figure.flags.set(Flag::estimated);
  figure.known = seen.known;
  // The lane goes on reading: the known time may have grown since.
  figure.unknown = positive(length - seen.known);
  if (figure.unknown > Seconds(0)) figure.flags.set(Flag::gap);
  if (seen.known <= nanoseconds(0)) return figure;

  const double raw_s = static_cast<double>(seen.raw_ns) / 1e9;
  figure.energy = Joules(channel.scale() * raw_s);
  if (work_read_until && !overlapping) {
    *figure.energy += lacking_of_work(history, kernel, begin, end, lag);
    figure.energy = std::max(*figure.energy, Joules());
  }
  figure.mean = *figure.energy / Seconds(seen.known);
  if (seen.raw_ns == 0) figure.flags.set(Flag::zero);
  if (overlapping) {
    figure.energy = std::max(overlapping->energy, Joules());
    figure.mean = *figure.energy / Seconds(seen.known);
  }

  set_coverage(figure, channel.gauge, kernel, spacing);
  if (channel.gauge.longest_lag) {
    const FilteredEnergy filtered = filtered_energy(history, begin, end, *figure.energy);
    figure.energy = filtered.energy;
    figure.mean = filtered.energy / Seconds(seen.known);
    figure.uncertainty = filtered.uncertainty;
    figure.common = filtered.common;
  } else {
    add_uncertainty(figure, history, begin, end, lag, last, overlapping);
  }
  bound(figure, length < spacing);
  return figure;
}

EnergyFigure held_energy(const Channel& channel, std::span<const HeldValue> values, TimePoint end) {
  const nanoseconds length = end - values.front().since;
  const nanoseconds period = std::max<nanoseconds>(
      std::chrono::milliseconds(1), length / static_cast<std::int64_t>(values.size()));
  const GaugePace pace = {.period = period,
                          .update = kAssumedUpdate,
                          .longest_age = period + std::max(period, kAssumedUpdate)};
  const TimePoint newest = values.back().since;
  // One sample of each value, and the time in which values are the same.
  const auto most_samples = values.size() + 1 + static_cast<std::uint64_t>(length / pace.spacing());
  GaugeSpread spread(values.front().since + pace.spacing(), newest - pace.spacing(), pace.spacing(),
                     period, true, most_samples);
  Uint128 raw_ns = 0;
  for (std::size_t i = 0; i < values.size();) {
    const HeldValue& value = values[i];
    TimePoint last_confirmed = value.since;
    for (++i; i < values.size() && values[i].raw == value.raw; ++i)
      last_confirmed = values[i].since;
    const TimePoint until = i < values.size() ? values[i].since : end;
    raw_ns += Uint128{value.raw} * static_cast<std::uint64_t>((until - value.since).count());
    spread.add({.first_seen = value.since, .last_confirmed = last_confirmed, .raw = value.raw},
               channel.scale() * static_cast<double>(value.raw));
  }
  EnergyFigure figure{.method = Method::integrated,
                      .metric = channel.metric,
                      .quantity = to_string(channel.metric)};
  figure.known = length;
  figure.energy = Joules(channel.scale() * (static_cast<double>(raw_ns) / 1e9));
  figure.mean = *figure.energy / Seconds(length);
  if (raw_ns == 0) figure.flags.set(Flag::zero);
  set_coverage(figure, channel.gauge, kernel_of(channel.gauge), pace.spacing());
  add_uncertainty(figure, channel, pace, spread, {}, std::nullopt);
  bound(figure, length < pace.spacing());
  return figure;
}

}  // namespace wattle
