#include "sampling/counters/power_near_end.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/counters/counter_lag.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// By how much the mean power changes from the interval between two readings in which `end` lies to
/// the intervals around it. Where nothing is known of these, it could change by all it is.
Watts change_between_readings(const History& history, const Boundary& end) noexcept {
  const Timeline& values = history.values();
  const auto [before, after] = values.at(end.at);
  if (!before || !after) return Watts(0.0);
  const Channel& channel = history.channel();
  const auto power = [&](const StoredReading& from, const StoredReading& to) {
    const Seconds length = to.first_seen - from.first_seen;
    return Joules(channel.scale() * static_cast<double>(to.raw - from.raw)) / length;
  };
  const Watts here = power(*before, *after);
  const auto earlier = values.at(before->first_seen - nanoseconds(1)).before;
  const auto later = values.at(after->first_seen).after;
  if (!earlier && !later) return here;
  const auto change = [&](Watts other) { return Watts(std::abs((other - here).si())); };
  return std::max(earlier ? change(power(*earlier, *before)) : Watts(0.0),
                  later ? change(power(*after, *later)) : Watts(0.0));
}

/// True if the counter was read in between, not only around it.
bool is_read_between(const History& history, TimePoint begin, TimePoint end) noexcept {
  constexpr nanoseconds kQuantum = std::chrono::microseconds(1);  // of the times in a timeline
  const auto last = history.values().at(end - 2 * kQuantum).before;
  return last && last->first_seen > begin + kQuantum;
}

}  // namespace

std::optional<Watts> mean_power(const History& history, TimePoint begin, TimePoint end) noexcept {
  if (end <= begin) return std::nullopt;
  const std::optional<double> ticks = history.values().ticks_between(begin, end);
  if (!ticks) return std::nullopt;
  return Joules(history.channel().scale() * *ticks) / Seconds(end - begin);
}

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

std::optional<Watts> power_beside(const History& history, TimePoint at, int sign) noexcept {
  const auto far_end = [&](int updates) {
    return at + sign * updates * history.channel().update.p99;
  };
  const auto mean = [&](int updates) {
    const TimePoint other = far_end(updates);
    return mean_power(history, std::min(at, other), std::max(at, other));
  };
  std::optional<Watts> highest = mean(kNearUpdates);
  const TimePoint other = far_end(kNearUpdates);
  if (!is_read_between(history, std::min(at, other), std::max(at, other))) return highest;
  for (int updates = 1; updates < kNearUpdates; ++updates) {
    highest = std::max(highest, mean(updates));
  }
  return highest;
}

}  // namespace wattle
