#include "sampling/integrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <utility>

#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

nanoseconds positive(nanoseconds time) noexcept { return std::max(time, nanoseconds(0)); }

Joules joules(const Channel& channel, double ticks) noexcept {
  return Joules(channel.scale() * ticks);
}

/// What a counter showed at both ends of a window.
struct Ends {
  Boundary first;
  Boundary last;
};

/// A reading of a counter as an end of a window.
std::optional<Boundary> boundary(const std::optional<StoredReading>& reading) noexcept {
  if (!reading) return std::nullopt;
  return Boundary{.at = reading->first_seen, .ticks = reading->raw};
}

std::optional<Ends> ends_of(const History& history, const CounterWindowAsked& window) noexcept {
  const auto or_else = [](std::optional<Boundary> end, auto look_up) {
    return end ? end : look_up();
  };
  const auto first = or_else(or_else(window.first, [&] { return history.at(window.begin); }),
                             [&] { return boundary(history.values().at(window.begin).after); });
  const auto last = or_else(or_else(window.last, [&] { return history.at(window.end); }),
                            [&] { return boundary(history.values().at(window.end).before); });
  if (!first || !last || last->at <= first->at) return std::nullopt;
  return Ends{.first = *first, .last = *last};
}

/// Mean power between two times that lie between readings.
std::optional<Watts> mean_power(const History& history, TimePoint begin, TimePoint end) noexcept {
  if (end <= begin) return std::nullopt;
  const std::optional<double> ticks = history.values().counter_window(begin, end).ticks;
  if (!ticks) return std::nullopt;
  return joules(history.channel(), *ticks) / Seconds(end - begin);
}

/// By how much the mean power changes from the interval between two readings in which `end` lies to
/// the intervals around it. Where nothing is known of these, it could change by all it is.
Watts change_between_readings(const History& history, const Boundary& end) noexcept {
  const Timeline& values = history.values();
  const auto [before, after] = values.at(end.at);
  if (!before || !after) return Watts(0.0);
  const Channel& channel = history.channel();
  const auto power = [&](const StoredReading& from, const StoredReading& to) {
    const Seconds length = to.first_seen - from.first_seen;
    return joules(channel, static_cast<double>(to.raw - from.raw)) / length;
  };
  const Watts here = power(*before, *after);
  const auto earlier = values.at(before->first_seen - nanoseconds(1)).before;
  const auto later = values.at(after->first_seen).after;
  if (!earlier && !later) return here;
  const auto change = [&](Watts other) { return Watts(std::abs((other - here).si())); };
  return std::max(earlier ? change(power(*earlier, *before)) : Watts(0.0),
                  later ? change(power(*after, *later)) : Watts(0.0));
}

/// How far off a line between two readings can be at `end`. Over less than a few updates of the
/// counter the power is noise.
Joules interpolation_bound(const History& history, const Boundary& end,
                           nanoseconds few_updates) noexcept {
  if (end.bracket == nanoseconds(0)) return Joules(0.0);
  const auto earlier = mean_power(history, end.at - few_updates, end.at);
  const auto later = mean_power(history, end.at, end.at + few_updates);
  const Watts change = end.bracket <= few_updates && earlier && later
                           ? Watts(std::abs((*later - *earlier).si()))
                           : change_between_readings(history, end);
  return change * Seconds(end.bracket);
}

/// The power next to the ends, over a few updates of the counter.
CounterWindowFacts facts_of(const History& history, const Ends& ends, Joules energy,
                            nanoseconds known) noexcept {
  const Channel& channel = history.channel();
  const TimePoint begin = ends.first.at;
  const TimePoint end = ends.last.at;
  const nanoseconds few_updates = 4 * channel.update.p99;
  const nanoseconds near = std::min<nanoseconds>(end - begin, few_updates);
  const Watts mean = energy / Seconds(known);
  return {.energy = energy,
          .length = known,
          .power_after_begin = mean_power(history, begin, begin + near).value_or(mean),
          .power_before_end = mean_power(history, end - near, end).value_or(mean),
          .begin_half_width = ends.first.half_width,
          .end_half_width = ends.last.half_width,
          .tick = channel.counter.tick,
          .update = channel.update,
          .begin_interpolation = interpolation_bound(history, ends.first, few_updates),
          .end_interpolation = interpolation_bound(history, ends.last, few_updates)};
}

constexpr int kFewUpdates = 5;

/// The ends of a window that was asked for afterwards, each looked up where the counter shows, on
/// average, what had been spent until then. That is worth while where the counter was read about as
/// often as it is renewed. Absent where it was not, where an end was read directly or lies too
/// close to the last reading, or where it is not known what happened in between.
std::optional<Ends> looked_up(const History& history, const CounterWindowAsked& window) noexcept {
  if (window.first || window.last || window.end <= window.begin) return std::nullopt;
  const nanoseconds age = mean_age(history.channel().update);
  auto first = history.at(window.begin + age);
  auto last = history.at(window.end + age);
  if (!first || !last) return std::nullopt;
  const nanoseconds few_updates = kFewUpdates * history.channel().update.mean;
  if (std::max(first->bracket, last->bracket) > few_updates) return std::nullopt;
  if (history.condition(window.begin, window.end + age).unknown > nanoseconds(0)) {
    return std::nullopt;
  }
  first->at = window.begin;
  last->at = window.end;
  return Ends{.first = *first, .last = *last};
}

Joules looked_up_uncertainty(const History& history, const Ends& ends, Watts mean) noexcept {
  const Channel& channel = history.channel();
  const nanoseconds age = mean_age(channel.update);
  const nanoseconds near = kFewUpdates * channel.update.mean;
  const auto end_of = [&](Boundary end) {
    end.at += age;
    return InterpolatedEnd{.before = mean_power(history, end.at - near, end.at).value_or(mean),
                           .after = mean_power(history, end.at, end.at + near).value_or(mean),
                           .change = interpolation_bound(history, end, near)};
  };
  return interpolated_counter_uncertainty({.begin = end_of(ends.first),
                                           .end = end_of(ends.last),
                                           .tick = channel.counter.tick,
                                           .update = channel.update});
}

}  // namespace

EnergyFigure counter_energy(const History& history, const CounterWindowAsked& window) {
  const Channel& channel = history.channel();
  EnergyFigure figure{.method = Method::counter, .quantity = to_string(channel.metric)};
  figure.flags = history.condition(window.begin, window.end).flags;
  const std::optional<Ends> afterwards = looked_up(history, window);
  const std::optional<Ends> ends = afterwards ? afterwards : ends_of(history, window);
  if (!ends) {
    figure.unknown = positive(window.end - window.begin);
    figure.flags.set(Flag::gap);
    return figure;
  }
  const nanoseconds outside =
      positive(ends->first.at - window.begin) + positive(window.end - ends->last.at);
  if (outside > nanoseconds(0)) figure.flags.set(Flag::gap);
  const Condition inside = history.condition(ends->first.at, ends->last.at);
  const nanoseconds known = ends->last.at - ends->first.at - inside.unknown;
  figure.unknown = inside.unknown + outside;
  figure.known = positive(known);
  if (known <= nanoseconds(0)) return figure;

  const std::uint64_t ticks = ends->last.ticks - ends->first.ticks;
  const Joules energy =
      joules(channel, static_cast<double>(ticks) + (ends->last.fraction - ends->first.fraction));
  figure.energy = energy;
  // What was counted before the events that were forgotten is known, but not in how much time.
  if (inside.forgotten == nanoseconds(0)) figure.mean = energy / Seconds(known);
  figure.uncertainty = afterwards
                           ? looked_up_uncertainty(history, *ends, energy / Seconds(known))
                           : plain_counter_uncertainty(facts_of(history, *ends, energy, known));
  if (known < channel.update.mean) {
    // The counter may not have been renewed at all: no power can be told, only a bound.
    figure.flags.set(Flag::short_window);
    figure.mean.reset();
    figure.uncertainty = channel.counter.max_power * Seconds(channel.update.p99);
  } else if (energy.si() == 0.0) {
    figure.flags.set(Flag::zero);
  }
  return figure;
}

namespace {

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
  figure.unknown = length - seen.known;
  if (figure.unknown > Seconds(0)) figure.flags.set(Flag::gap);
  if (seen.known <= nanoseconds(0)) return figure;

  const double raw_s = static_cast<double>(seen.raw_ns) / 1e9;
  figure.energy = Joules(channel.scale() * raw_s);
  figure.mean = *figure.energy / Seconds(seen.known);
  if (seen.raw_ns == 0) figure.flags.set(Flag::zero);

  const GaugeSpread spread = spread_of(history, begin + lag, end + lag, spacing + window);
  if (channel.gauge.window) {
    figure.coverage = std::min(1.0, Seconds(window) / Seconds(spacing));
    constexpr double kAll = 0.995;
    if (*figure.coverage < kAll) figure.flags.set(Flag::partial_coverage);
  }
  figure.uncertainty = gauge_uncertainty({.length = seen.known,
                                          .spacing = spacing,
                                          .window = window,
                                          .coverage = figure.coverage.value_or(0.0),
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

namespace {

/// Sensors of unknown error are taken to be off by this: NVIDIA states 5 % where it states
/// anything (NVML API Reference, nvmlDeviceGetPowerUsage), and boards were found to be within 8 %,
/// with exceptions (arXiv 2312.02741). Two ways through one board share most of it.
constexpr double kUnstatedCalibration = 0.05;

/// How wrong a figure with an energy can be, what it does not know included.
double doubt_j(const EnergyFigure& figure) noexcept {
  const double unknown = figure.unknown / figure.known;
  return std::hypot(figure.uncertainty.si(), figure.energy.value_or(Joules()).si() * unknown);
}

bool shows_something(const EnergyFigure& figure) noexcept { return !figure.flags.has(Flag::zero); }

/// Compares mean powers: each over what its figure knows.
bool disagree(const EnergyFigure& a, const EnergyFigure& b) noexcept {
  static constexpr double kMostUnknown = 0.01;
  const auto is_whole = [](const EnergyFigure& figure) {
    return figure.mean && figure.unknown <= kMostUnknown * figure.known;
  };
  if (!is_whole(a) || !is_whole(b)) return false;
  const double a_w = a.mean.value_or(Watts()).si();
  const double b_w = b.mean.value_or(Watts()).si();
  const double sampling_w =
      std::hypot((a.uncertainty / a.known).si(), (b.uncertainty / b.known).si());
  return std::abs(a_w - b_w) > sampling_w + kUnstatedCalibration * std::max(a_w, b_w);
}

}  // namespace

EnergyFigure best_energy(std::vector<EnergyFigure> figures) {
  EnergyFigure first = figures.front();
  std::erase_if(figures, [](const EnergyFigure& figure) { return !figure.energy; });
  if (figures.empty()) return first;
  std::ranges::stable_sort(figures, {}, doubt_j);
  bool disagrees = false;
  for (const EnergyFigure& figure : figures) disagrees |= disagree(figures.front(), figure);
  if (disagrees) {
    std::ranges::stable_partition(
        figures, [](const EnergyFigure& figure) { return figure.method == Method::counter; });
  }
  // A dead sensor is quite certain of itself.
  std::ranges::stable_partition(figures, shows_something);
  EnergyFigure best = std::move(figures.front());
  if (disagrees) best.flags.set(Flag::disagrees);
  for (const EnergyFigure& other : figures | std::views::drop(1)) {
    best.alternatives.push_back({.method = other.method,
                                 .quantity = other.quantity,
                                 .energy = other.energy.value_or(Joules()),
                                 .uncertainty = other.uncertainty,
                                 .flags = other.flags});
  }
  return best;
}

std::string_view to_string(Method method) noexcept {
  switch (method) {
    case Method::counter:
      return "counter";
    case Method::integrated:
      return "integrated";
    case Method::estimated:
      return "estimated";
  }
  return "";
}

}  // namespace wattle
