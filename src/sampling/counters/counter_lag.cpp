#include "sampling/counters/counter_lag.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

constexpr int kFarUpdates = 10;
/// How exactly an observed update interval and a power near an end are known.
constexpr double kLeftOfBias = 0.1;
/// The same of an interval that is only published: boards of a kind differ by as much.
constexpr double kOfPublished = 1.25;

/// The mean power from an earlier reading to an end of the window.
Watts power_since(const History& history, const StoredReading& earlier, const Boundary& end) {
  const double ticks = static_cast<double>(end.ticks - earlier.raw) + end.fraction;
  return Joules(history.channel().scale() * ticks) / Seconds(end.at - earlier.first_seen);
}

/// The last reading that is at least this number of updates before `end`; absent where it was
/// longer before it than `farthest`, or where the counter lost track in between.
std::optional<StoredReading> reading_before(const History& history, const Boundary& end,
                                            int updates, nanoseconds farthest) {
  const nanoseconds update = history.channel().update.mean;
  auto found = history.values().at(end.at - updates * update).before;
  if (!found || end.at - found->first_seen > farthest) {
    // None is that old: the oldest of those since then.
    found = history.values().at(end.at - farthest).after;
    if (!found || end.at - found->first_seen < update) return std::nullopt;
  }
  if (history.condition(found->first_seen, end.at).unknown > nanoseconds(0)) return std::nullopt;
  return found;
}

/// By how much the power of the last update differs from that of the last few; absent where the
/// counter was not read at its pace.
std::optional<Watts> late_change(const History& history, const Boundary& end) {
  const nanoseconds update = history.channel().update.mean;
  const auto one = reading_before(history, end, 1, 2 * update);
  const auto four = reading_before(history, end, kNearUpdates, 2 * kNearUpdates * update);
  if (!one || !four || four->first_seen >= one->first_seen) return std::nullopt;
  return power_since(history, *one, end) - power_since(history, *four, end);
}

std::optional<Watts> power_before(const History& history, const EnergyWindow& window,
                                  const Boundary& first) {
  const nanoseconds farthest = kFarUpdates * history.channel().update.mean;
  const auto reading = reading_before(history, first, kNearUpdates, farthest);
  return reading ? std::optional(power_since(history, *reading, first)) : window.power_before;
}

/// Absent where the window is too short for it to have a power of its own.
std::optional<Watts> power_at_end(const History& history, const Boundary& first,
                                  const Boundary& last) {
  const auto reading = reading_before(history, last, kNearUpdates, last.at - first.at);
  if (!reading || reading->first_seen <= first.at) return std::nullopt;
  return power_since(history, *reading, last);
}

/// The last reading of another value from `begin` on, and the first that shows `ticks`, as `end`
/// does. A counter does not fall, so halves are searched: a program can read it thousands of times
/// until it is renewed.
Bracket last_renewal(const Timeline& values, TimePoint begin, TimePoint end,
                     std::uint64_t ticks) noexcept {
  std::optional<StoredReading> other = values.at(begin - kCounterQuantum).after;
  std::optional<StoredReading> same = values.at(end).before;
  if (!other || !same || same->raw != ticks || same->first_seen < other->first_seen) return {};
  if (other->raw == ticks) return {.before = std::nullopt, .after = other};
  while (true) {
    const TimePoint middle = other->first_seen + (same->first_seen - other->first_seen) / 2;
    const auto [before, after] = values.at(middle);
    if (!before) return {};
    if (before->raw != ticks) {
      if (!after || after->raw == ticks) return {.before = before, .after = after};
      other = after;
    } else if (before->first_seen < same->first_seen) {
      same = before;
    } else {
      return {.before = other, .after = same};
    }
  }
}

/// For how long, at most, the counter had not been renewed; 0 where that is usual or not known.
nanoseconds standstill_at(const History& history, const Boundary& end) noexcept {
  constexpr int kFar = 100;
  constexpr int kNeverSeen = 4;
  const nanoseconds usual = history.channel().update.p99;
  const auto shown = history.values().at(end.at - 3 * usual / 2).before;
  if (!shown || shown->raw != end.ticks) return {};
  const auto [other, since] =
      last_renewal(history.values(), end.at - kFar * usual, end.at, end.ticks);
  if (!since || 2 * (end.at - since->first_seen) <= 3 * usual) return {};
  return other ? end.at - other->first_seen : kNeverSeen * (end.at - since->first_seen);
}

/// As it was seen after the end, where it was not observed before.
UpdateInterval update_of(const History& history, const std::optional<SeenEnd>& seen) noexcept {
  UpdateInterval update = history.channel().update;
  if (update.is_observed || pauses(update) || !seen) return update;
  const double times = seen->interval / Seconds(update.mean);
  const auto scaled = [&](nanoseconds time) {
    return nanoseconds(std::llround(times * static_cast<double>(time.count())));
  };
  update.mean = seen->interval;
  update.spread = scaled(update.spread);
  update.p99 = scaled(update.p99);
  update.is_observed = true;
  return update;
}

}  // namespace

Joules standstill_bound(const History& history, const Boundary& end, Watts mean) noexcept {
  constexpr double kUnseen = 1.6;
  if (end.bracket > nanoseconds(0)) return {};
  const nanoseconds standstill = standstill_at(history, end);
  const TimePoint since = end.at - standstill;
  const nanoseconds near = kNearUpdates * history.channel().update.p99;
  const double ticks = history.values().ticks_between(since - near, since).value_or(0.0);
  const Watts before = Joules(history.channel().scale() * ticks) / Seconds(near);
  return kUnseen * std::max(mean, before) * Seconds(standstill);
}

CounterLag counter_lag(const History& history, const EnergyWindow& window, const Boundary& first,
                       const Boundary& last, Joules energy, const std::optional<SeenEnd>& seen) {
  const UpdateInterval update = update_of(history, seen);
  const Seconds age(mean_age(update));
  const Seconds length(last.at - first.at);
  if (age <= Seconds(0)) return {};
  const std::optional<Watts> before = power_before(history, window, first);
  const std::optional<Watts> at_end = power_at_end(history, first, last);
  if (!before || length < Seconds(update.mean)) {
    const Watts mean = energy / length;
    const Watts highest = std::max({at_end.value_or(mean), mean, before.value_or(Watts())});
    return {.common = Joules() - highest * age, .power_before = before};
  }
  const Joules bias = seen     ? *before * age
                      : at_end ? (*before - *at_end) * age
                               // That of the window itself, which includes the bias.
                               : (*before * age - energy * (age / length)) / (1.0 - age / length);
  CounterLag lag{.common = kOfPublished * bias, .has_seen_end = seen.has_value()};
  if (seen) {
    // Its sign is not known: that of the bias, so that they do not cancel.
    const Watts change = seen->power_after - at_end.value_or(energy / length);
    lag.common = lag.common + Joules(kLeftOfBias * std::abs((change * age).si()));
  }
  // For a counter that pauses, the power over a few updates is right on average only.
  if (pauses(update)) {
    if (seen) lag.bias = bias;
    return lag;
  }
  lag.power_before = before;
  lag.ends_are_seen = lag.has_seen_end;
  if (!update.is_observed) return lag;
  lag.bias = bias;
  lag.common = lag.common + (kLeftOfBias - kOfPublished) * bias;
  const std::optional<Watts> change_before = late_change(history, first);
  const std::optional<Watts> change_at_end = seen ? Watts() : late_change(history, last);
  if (change_before && change_at_end) {
    lag.ends_are_seen = true;
    lag.common = lag.common + 2.0 * ((*change_before - *change_at_end) * age);
  }
  return lag;
}

}  // namespace wattle
