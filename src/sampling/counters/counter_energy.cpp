#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sampling/counters/counter_lag.hpp"
#include "sampling/counters/power_near_end.hpp"
#include "sampling/history.hpp"
#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

Joules joules(const Channel& channel, double ticks) noexcept {
  return Joules(channel.scale() * ticks);
}

/// The values of a counter at both ends of a window.
struct Ends {
  Boundary first;
  Boundary last;
};

/// A reading of a counter as an end of a window.
std::optional<Boundary> boundary(const std::optional<StoredReading>& reading) noexcept {
  if (!reading) return std::nullopt;
  return Boundary{.at = reading->first_seen, .ticks = reading->raw};
}

/// The value of a counter at `time` in a pause, during which it was read but not renewed:
/// interpolated from the reading before its pause to the first one after it, whose length is the
/// `bracket`. Absent where `time` is in no pause, or the end of it was not seen.
///
/// A pause is longer than two of the counter's longest usual intervals and the readings around it.
/// It is looked for up to 100 usual intervals away.
std::optional<Boundary> across_pause(const History& history, TimePoint time) noexcept {
  constexpr int kFar = 100;
  constexpr int kTooLong = 2;
  const UpdateInterval& update = history.channel().update;
  const auto [before, after] = history.values().at(time);
  if (!before || !after) return std::nullopt;
  // The first reading with the value that is shown then, and the first one with another.
  std::optional<StoredReading> since;
  std::optional<StoredReading> until;
  TimePoint last = before->first_seen;
  nanoseconds apart{0};
  const auto look = [&](const StoredReading& reading) {
    if (until) return;
    if (reading.first_seen <= time) {
      if (reading.raw != before->raw) since.reset();
      if (reading.raw == before->raw && !since) since = reading;
      return;
    }
    apart = std::max(apart, reading.first_seen - last);
    last = reading.first_seen;
    if (reading.raw != before->raw) until = reading;
  };
  history.values().for_each(time - kFar * update.p99, time + kFar * update.p99, look);
  if (!since || !until) return std::nullopt;
  const nanoseconds length = until->first_seen - since->first_seen;
  if (length <= kTooLong * (update.p99 + apart)) return std::nullopt;
  const auto ticks = static_cast<double>(until->raw - since->raw);
  const double passed = ticks * (Seconds(time - since->first_seen) / Seconds(length));
  const auto whole = static_cast<std::uint64_t>(passed);
  return Boundary{.at = time,
                  .ticks = since->raw + whole,
                  .fraction = passed - static_cast<double>(whole),
                  .bracket = length};
}

/// When the counter showed its last ticks first, where that is longer before the end than it can
/// stand still; else the end. What was spent since then is not known.
TimePoint stopped_at(const History& history, const Ends& ends) noexcept {
  // A counter that is late by less is not suspected.
  static constexpr nanoseconds kShortest = std::chrono::seconds(1);
  static constexpr nanoseconds kExact = std::chrono::milliseconds(1);
  const nanoseconds limit = std::max(longest_standstill(history.channel()), kShortest);
  const auto stands_at = [&](TimePoint at) {
    const auto reading = history.values().at(at).before;
    return reading && reading->raw >= ends.last.ticks;
  };
  TimePoint moving = ends.first.at;
  TimePoint standing = ends.last.at;
  // Without a tick in the whole window see `is_stuck`; a fraction lies between two that differ.
  const bool has_moved = ends.last.ticks > ends.first.ticks && ends.last.fraction == 0.0;
  if (!has_moved || standing - moving <= limit || !stands_at(standing - limit)) return standing;
  while (standing - moving > kExact) {
    const TimePoint middle = moving + (standing - moving) / 2;
    (stands_at(middle) ? standing : moving) = middle;
  }
  return standing;
}

std::optional<Ends> ends_of(const History& history, const EnergyWindow& window) noexcept {
  const auto or_else = [](std::optional<Boundary> end, auto look_up) {
    return end ? end : look_up();
  };
  const auto first = or_else(or_else(window.first, [&] { return history.at(window.begin); }),
                             [&] { return boundary(history.values().at(window.begin).after); });
  const auto last = or_else(or_else(window.last, [&] { return history.at(window.end); }),
                            [&] { return boundary(history.values().at(window.end).before); });
  if (!first || !last || last->at <= first->at) return std::nullopt;
  if (last->at <= window.begin || first->at >= window.end) return std::nullopt;
  Ends ends{.first = *first, .last = *last};
  ends.last.at = stopped_at(history, ends);
  return ends;
}

/// The power next to the ends, over a few updates of the counter.
CounterWindowFacts facts_of(const History& history, const Ends& ends, Joules energy,
                            nanoseconds known) noexcept {
  const Channel& channel = history.channel();
  const TimePoint begin = ends.first.at;
  const TimePoint end = ends.last.at;
  const nanoseconds few_updates = kNearUpdates * channel.update.p99;
  const Watts mean = energy / Seconds(known);
  // A short window is all near to its ends.
  const bool is_short = end - begin <= few_updates;
  return {.power_at_begin = is_short ? mean : power_beside(history, begin, 1).value_or(mean),
          .power_before_end = is_short ? mean : power_beside(history, end, -1).value_or(mean),
          .begin_half_width = ends.first.half_width,
          .end_half_width = ends.last.half_width,
          .tick = channel.counter.tick,
          .update = channel.update,
          .begin_interpolation = std::max(interpolation_bound(history, ends.first, few_updates),
                                          standstill_bound(history, ends.first, mean)),
          .end_interpolation = std::max(interpolation_bound(history, ends.last, few_updates),
                                        standstill_bound(history, ends.last, mean))};
}

constexpr int kFewUpdates = 5;

/// The ends of a window that was asked for afterwards, each looked up where the counter shows, on
/// average, what had been spent until then. That is worth while where the counter was read about as
/// often as it is renewed. Absent where it was not, where an end was read directly or lies too
/// close to the last reading, or where it is not known what happened in between.
std::optional<Ends> interpolated_ends(const History& history, const EnergyWindow& window) noexcept {
  if (window.first || window.last || window.end <= window.begin) return std::nullopt;
  const nanoseconds age = mean_age(history.channel().update);
  const nanoseconds few_updates = kFewUpdates * history.channel().update.mean;
  const auto shown_at = [&](TimePoint end) {
    if (const auto paused = across_pause(history, end)) return paused;
    const auto usual = history.at(end + age);
    return usual && usual->bracket <= few_updates ? usual : std::nullopt;
  };
  auto first = shown_at(window.begin);
  auto last = shown_at(window.end);
  if (!first || !last) return std::nullopt;
  if (history.condition(window.begin, window.end + age).unknown > nanoseconds(0)) {
    return std::nullopt;
  }
  const Ends looked_up{.first = *first, .last = *last};
  if (stopped_at(history, looked_up) < last->at) return std::nullopt;
  first->at = window.begin;
  last->at = window.end;
  return Ends{.first = *first, .last = *last};
}

/// An end within a pause: of a power that is known as a mean over the pause alone. What it was
/// within is not known: a part of it may have come at any time.
InterpolatedEnd end_in_pause(const History& history, const Boundary& end, nanoseconds near,
                             Watts mean) noexcept {
  constexpr double kUnseen = 0.6;
  const nanoseconds pause = end.bracket;
  const auto power = [&](TimePoint from, TimePoint to) {
    return mean_power(history, from, to).value_or(mean);
  };
  // A line through all of it: the pause starts and ends somewhere around here.
  const Watts across = power(end.at - pause - near, end.at + pause + near);
  const Watts change =
      power(end.at + pause, end.at + pause + near) - power(end.at - pause - near, end.at - pause);
  const Watts unseen = std::max(Watts(std::abs(change.si())), kUnseen * across);
  return {.before = across, .after = across, .change = unseen * Seconds(pause)};
}

Joules interpolated_uncertainty(const History& history, const Ends& ends, Watts mean) noexcept {
  const Channel& channel = history.channel();
  const nanoseconds age = mean_age(channel.update);
  const nanoseconds near = kFewUpdates * channel.update.mean;
  const auto end_of = [&](Boundary end) {
    if (across_pause(history, end.at)) return end_in_pause(history, end, near, mean);
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

/// How far direct readings lie outside of the window: where one device had to be waited for, the
/// others were read that much too early, or too late itself. A few milliseconds are the reader's
/// own, and count as the window's. What is not known of that time is in no energy, and not here.
struct TimeOutside {
  nanoseconds before{0};
  nanoseconds after{0};
};

TimeOutside time_outside(const History& history, const EnergyWindow& window,
                         const Ends& ends) noexcept {
  const nanoseconds before = positive(window.begin - ends.first.at);
  const nanoseconds after = positive(ends.last.at - window.end);
  if (before + after >= ends.last.at - ends.first.at || window.end <= window.begin) return {};
  const auto known = [&](nanoseconds length, TimePoint from, TimePoint to) {
    return length > kReadersOwnTime ? positive(length - history.condition(from, to).unknown)
                                    : nanoseconds(0);
  };
  return {.before = known(before, ends.first.at, window.begin),
          .after = known(after, window.end, ends.last.at)};
}

/// Takes a direct reading that came at most `kReadersOwnTime` inside of the window as the window's
/// end, and makes it that much less certain.
void extend_to_window(const EnergyWindow& window, Ends& ends) noexcept {
  static constexpr int kLeastPart = 10;
  const nanoseconds most = std::min(kReadersOwnTime, (window.end - window.begin) / kLeastPart);
  const nanoseconds before = ends.first.at - window.begin;
  const nanoseconds after = window.end - ends.last.at;
  if (window.first && before > nanoseconds(0) && before <= most) {
    ends.first.half_width += before;
    ends.first.at = window.begin;
  }
  if (window.last && after > nanoseconds(0) && after <= most) {
    ends.last.half_width += after;
    ends.last.at = window.end;
  }
}

/// By how much the last reading came after the end.
nanoseconds time_after(const EnergyWindow& window, const Ends& ends) noexcept {
  return window.end > window.begin ? positive(ends.last.at - window.end) : nanoseconds(0);
}

/// The lag of a window, all of it known. Where the counter was read on after the end, what it did
/// not show there is added to `energy`, and what came between the end and a late reading is not in
/// it.
CounterLag take_lag(const History& history, const EnergyWindow& window, const Ends& ends,
                    Joules& energy, CounterWindowFacts& facts) {
  const bool is_direct = window.last && ends.last.at >= window.last->at;  // and had not stopped
  const std::optional<SeenEnd> seen = is_direct ? seen_end(history, ends.last) : std::nullopt;
  const CounterLag lag = counter_lag(history, window, ends.first, ends.last, energy, seen);
  // Energy spent during the age of the first reading was spent before the start.
  facts.power_at_begin = lag.power_before.value_or(facts.power_at_begin);
  if (!lag.has_seen_end) return lag;
  energy = energy + seen->unseen - seen->power_after * Seconds(time_after(window, ends));
  facts.power_before_end = seen->power_after;
  facts.end_half_width = std::max(facts.end_half_width, seen->bracket / 2);
  facts.end_interpolation = Joules();
  return lag;
}

/// Without what was spent there, by the power next to the ends: which could be all wrong.
Joules subtract_outside(const TimeOutside& beyond, Joules energy,
                        CounterWindowFacts& facts) noexcept {
  const Joules before = facts.power_at_begin * Seconds(beyond.before);
  const Joules after = facts.power_before_end * Seconds(beyond.after);
  facts.begin_interpolation = Joules(std::hypot(facts.begin_interpolation.si(), before.si()));
  facts.end_interpolation = Joules(std::hypot(facts.end_interpolation.si(), after.si()));
  return std::max(energy - before - after, Joules(0.0));
}

/// `is_all_timed`: nothing of it was counted before the events that were forgotten, whose energy is
/// known, but not the time.
void set_energy(EnergyFigure& figure, const Channel& channel, Joules energy, nanoseconds known,
                bool is_all_timed) noexcept {
  figure.energy = energy;
  if (channel.counter.feed == CounterFeed::fed) figure.flags.set(Flag::partial_coverage);
  if (is_all_timed) figure.mean = energy / Seconds(known);
  if (known < channel.update.mean) {
    // The counter may not have been renewed at all: there is a bound, but no power.
    figure.flags.set(Flag::short_window);
    figure.mean.reset();
    figure.uncertainty = channel.counter.max_power * Seconds(channel.update.p99);
  } else if (energy.si() == 0.0) {
    figure.flags.set(Flag::zero);
  }
  figure.common = std::clamp(figure.common, Joules() - figure.uncertainty, figure.uncertainty);
}

}  // namespace

EnergyFigure counter_energy(const History& history, const EnergyWindow& window) {
  const Channel& channel = history.channel();
  EnergyFigure figure{.method = Method::counter};
  set_update(figure, channel.update);
  figure.flags = history.condition(window.begin, window.end).flags;
  const std::optional<Ends> afterwards = interpolated_ends(history, window);
  std::optional<Ends> ends = afterwards ? afterwards : ends_of(history, window);
  if (!ends) {
    figure.unknown = positive(window.end - window.begin);
    figure.flags.set(Flag::gap);
    return figure;
  }
  if (!afterwards) extend_to_window(window, *ends);
  const nanoseconds outside =
      positive(ends->first.at - window.begin) + positive(window.end - ends->last.at);
  if (outside > nanoseconds(0)) figure.flags.set(Flag::gap);
  const Condition inside = history.condition(ends->first.at, ends->last.at);
  nanoseconds known = ends->last.at - ends->first.at - inside.unknown;
  TimeOutside beyond = time_outside(history, window, *ends);
  const TimePoint from = std::max(ends->first.at, window.begin);
  const TimePoint to = std::max(from, std::min(ends->last.at, window.end));
  figure.unknown = history.condition(from, to).unknown + outside;
  figure.known = positive(known - beyond.before - beyond.after);
  if (figure.known <= Seconds(0)) return figure;

  const double ticks = static_cast<double>(ends->last.ticks - ends->first.ticks) +
                       (ends->last.fraction - ends->first.fraction);
  if (is_stuck(channel, ticks, known)) {
    figure.unknown = positive(window.end - window.begin);
    figure.known = Seconds(0);
    figure.flags.set(Flag::stuck);
    return figure;
  }
  Joules energy = joules(channel, ticks);
  if (afterwards) {
    figure.ends_are_seen = true;
    figure.uncertainty = interpolated_uncertainty(history, *ends, energy / Seconds(known));
  } else {
    CounterWindowFacts facts = facts_of(history, *ends, energy, known);
    const bool is_whole = inside.unknown == nanoseconds(0);
    const CounterLag lag =
        is_whole ? take_lag(history, window, *ends, energy, facts) : CounterLag{};
    figure.common = lag.common;
    figure.ends_are_seen = lag.ends_are_seen;
    if (lag.has_seen_end) {
      known -= time_after(window, *ends);
      beyond.after = nanoseconds(0);
      figure.known = positive(known - beyond.before);
    }
    if (beyond.before + beyond.after > nanoseconds(0)) {
      const Joules all = std::exchange(energy, subtract_outside(beyond, energy, facts));
      known = known - beyond.before - beyond.after;
      if (energy != all) figure.flags.set(Flag::estimated);
    }
    figure.uncertainty = plain_counter_uncertainty(facts);
    energy = std::max(energy - lag.bias, Joules());
  }
  set_energy(figure, channel, energy, known, inside.forgotten == nanoseconds(0));
  return figure;
}

}  // namespace wattle
