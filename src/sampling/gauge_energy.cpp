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
class GaugeSpread {
 public:
  GaugeSpread(TimePoint begin, TimePoint end, nanoseconds near) noexcept
      : begin_(begin), end_(end), near_(near) {}

  void add(const StoredReading& reading, double watts) noexcept {
    if (is_first_) first_ = last_ = watts;
    const double change = watts - last_;
    changes_ += change * change;
    last_ = watts;
    is_first_ = false;
    if (reading.first_seen <= begin_ + near_) begin_range_.add(watts);
    if (reading.last_confirmed >= end_ - near_) end_range_.add(watts);
  }

  /// Sum of the squared changes from one value to the next, in W^2.
  [[nodiscard]] double changes() const noexcept { return changes_; }
  /// By how much the power changed around the ends.
  [[nodiscard]] Watts begin_change() const noexcept { return begin_range_.width(); }
  [[nodiscard]] Watts end_change() const noexcept { return end_range_.width(); }
  /// From the one end to the other.
  [[nodiscard]] Watts overall_change() const noexcept { return Watts(std::abs(last_ - first_)); }

 private:
  struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void add(double value) noexcept {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    [[nodiscard]] Watts width() const noexcept { return Watts(std::max(high - low, 0.0)); }
  };
  TimePoint begin_;
  TimePoint end_;
  nanoseconds near_;
  bool is_first_ = true;
  double first_ = 0.0;
  double last_ = 0.0;
  double changes_ = 0.0;
  Range begin_range_;
  Range end_range_;
};

GaugeSpread spread_of(const History& history, TimePoint begin, TimePoint end, nanoseconds near) {
  const double scale = history.channel().scale();
  GaugeSpread spread(begin, end, near);
  const auto add = [&](const StoredReading& reading) {
    spread.add(reading, scale * static_cast<double>(reading.raw));
  };
  const TimePoint first = begin - near;
  const auto held = history.values().at(first).before;
  if (held && held->last_confirmed + history.hold() >= first) add(*held);
  history.values().for_each(first, end + near, add);
  return spread;
}

/// Nobody waits for what a mean will say half its time after the window's end: so much of the
/// window, moved back by that, is left to the newest value.
struct Tail {
  nanoseconds length{0};
  std::uint64_t raw = 0;
};

Tail tail_of(const History& history, TimePoint begin, TimePoint end, nanoseconds lag) noexcept {
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
                                          .squared_changes_w2 = spread.changes(),
                                          .change_at_begin = spread.begin_change(),
                                          .change_at_end = spread.end_change(),
                                          .change_overall = spread.overall_change(),
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
