#include <algorithm>
#include <cmath>
#include <limits>

#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

nanoseconds positive(nanoseconds time) noexcept { return std::max(time, nanoseconds(0)); }

/// What the readings of a gauge in a window tell of how much they can be off.
struct GaugeSpread {
  double squared_changes_w2 = 0.0;  ///< of all changes from one value to the next
  Watts begin_change{};             ///< by how much the power changed around the ends
  Watts end_change{};
  Watts overall_change{};  ///< from the one end to the other
};

/// The least and the greatest of some values.
class Range {
 public:
  void add(double value) noexcept {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  [[nodiscard]] double width() const noexcept { return std::max(high_ - low_, 0.0); }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

/// What the readings around an end of a window tell.
struct AroundEnd {
  /// One of them, and the squares of all changes until it.
  struct Seen {
    StoredReading reading;
    Uint128 changes;
  };
  std::optional<Seen> first;
  std::optional<Seen> last;
  Range raw;
};

/// The last reading up to `time`, believed or not.
std::optional<AroundEnd::Seen> last_reading(const Timeline& values, TimePoint time) {
  std::optional<AroundEnd::Seen> last;
  values.for_each_change(time, time, [&](const StoredReading& reading, Uint128 changes) {
    last = {reading, changes};
  });
  return last;
}

/// The first reading after `begin`, up to `end`.
std::optional<AroundEnd::Seen> next_reading(const Timeline& values, TimePoint begin,
                                            TimePoint end) {
  const auto next = values.at(begin).after;
  if (!next || next->first_seen > end) return std::nullopt;
  return last_reading(values, next->first_seen);
}

/// Looks at the readings within `near` of either end alone: the cost does not depend on the length.
GaugeSpread spread_of(const History& history, TimePoint begin, TimePoint end, nanoseconds near) {
  const Timeline& values = history.values();
  const auto look_around = [&](TimePoint time, nanoseconds held_for) {
    AroundEnd around;
    const auto add = [&](const StoredReading& reading, Uint128 changes) {
      if (reading.last_confirmed + held_for < time - near) return;
      around.last = {reading, changes};
      if (!around.first) around.first = around.last;
      around.raw.add(static_cast<double>(reading.raw));
    };
    values.for_each_change(time - near, time + near, add);
    return around;
  };
  AroundEnd around_begin = look_around(begin, history.hold());
  AroundEnd around_end = look_around(end, nanoseconds(0));
  if (!around_begin.first) around_begin.first = next_reading(values, begin, end + near);
  if (!around_end.last) around_end.last = last_reading(values, end);
  const auto& first = around_begin.first;
  const auto& last = around_end.last;
  if (!first || !last || last->reading.first_seen < first->reading.first_seen) return {};
  const double scale = history.channel().scale();
  const auto change = [](const StoredReading& from, const StoredReading& to) {
    return std::abs(static_cast<double>(to.raw) - static_cast<double>(from.raw));
  };
  return {.squared_changes_w2 = scale * scale * static_cast<double>(last->changes - first->changes),
          .begin_change = Watts(scale * around_begin.raw.width()),
          .end_change = Watts(scale * around_end.raw.width()),
          .overall_change = Watts(scale * change(first->reading, last->reading))};
}

/// Nobody waits for what a mean will say half its time after the window's end: so much of the
/// window, moved back by that, is left to the newest value.
struct Tail {
  nanoseconds length{0};
  std::uint64_t raw = 0;
};

Tail tail_of(const History& history, TimePoint begin, TimePoint end, nanoseconds lag) noexcept {
  // Nothing is missing where somebody read the gauge later.
  const auto newest = history.values().newest();
  if (!newest || *newest >= end + lag) return {};
  const auto [last, next] = history.values().at(end + lag);
  if (!last || next) return {};
  const TimePoint believed_until = last->last_confirmed + history.belief();
  if (believed_until < end) return {};
  return {.length = positive(end + lag - std::max(believed_until, begin + lag)), .raw = last->raw};
}

/// The time at the begins of unknown stretches in which a value only held: nobody looked again.
nanoseconds believed_only(const History& history, TimePoint begin, TimePoint end) {
  nanoseconds sum{0};
  history.each_unknown(begin, end, [&](TimePoint from, TimePoint /*to*/) {
    if (from > begin) sum += history.belief();
  });
  return sum;
}

}  // namespace

EnergyFigure gauge_energy(const History& history, TimePoint begin, TimePoint end) {
  const Channel& channel = history.channel();
  EnergyFigure figure{.method = Method::integrated, .quantity = to_string(channel.metric)};
  const nanoseconds length = positive(end - begin);
  const nanoseconds window = channel.gauge.window.value_or(nanoseconds(0));
  const nanoseconds lag = window / 2;
  const nanoseconds spacing = history.spacing();

  figure.flags = history.condition(begin, end).flags;
  GaugeWindow seen = history.gauge_window(begin + lag, end + lag);
  const Tail tail = tail_of(history, begin, end, lag);
  if (tail.length > nanoseconds(0)) {
    seen.raw_ns += Uint128{tail.raw} * static_cast<std::uint64_t>(tail.length.count());
    seen.known += tail.length;
    figure.flags.set(Flag::estimated);
  }
  figure.known = seen.known;
  // The lane goes on meanwhile: what is known may have grown between two looks at it.
  figure.unknown = positive(length - seen.known);
  if (figure.unknown > Seconds(0)) figure.flags.set(Flag::gap);
  if (seen.known <= nanoseconds(0)) return figure;

  const double raw_s = static_cast<double>(seen.raw_ns) / 1e9;
  figure.energy = Joules(channel.scale() * raw_s);
  figure.mean = *figure.energy / Seconds(seen.known);
  if (seen.raw_ns == 0) figure.flags.set(Flag::zero);

  const GaugeSpread spread = spread_of(history, begin + lag, end + lag, spacing + window);
  if (channel.gauge.window) {
    figure.coverage = std::min(1.0, Seconds(window) / Seconds(spacing));
    if (looks_away(*figure.coverage)) figure.flags.set(Flag::partial_coverage);
  }
  figure.uncertainty = gauge_uncertainty({.length = seen.known,
                                          .spacing = spacing,
                                          .window = window,
                                          .coverage = figure.coverage.value_or(0.0),
                                          .mean = *figure.mean,
                                          .believed_only = believed_only(history, begin, end),
                                          .squared_changes_w2 = spread.squared_changes_w2,
                                          .change_at_begin = spread.begin_change,
                                          .change_at_end = spread.end_change,
                                          .change_overall = spread.overall_change,
                                          .tail = tail.length,
                                          .step = Watts(channel.scale())});
  if (length < spacing) {
    // One value for all of it, which may be from before it: no power can be told, only a bound.
    figure.flags.set(Flag::short_window);
    figure.mean.reset();
    figure.uncertainty = std::max(figure.uncertainty, *figure.energy);
  }
  return figure;
}

}  // namespace wattle
