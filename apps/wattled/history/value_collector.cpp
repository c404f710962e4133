#include "history/value_collector.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace wattle::daemon {

using std::chrono::nanoseconds;

namespace {

/// The first instant after `begin`, until `end`, from which the wall clock was another one; absent:
/// it was not set.
std::optional<TimePoint> first_step(TimePoint begin, TimePoint end) {
  if (!wall_clock_stepped(begin, end)) return std::nullopt;
  TimePoint before = begin;
  TimePoint after = end;
  while (after - before > nanoseconds(1)) {
    const TimePoint middle = before + (after - before) / 2;
    (wall_clock_stepped(begin, middle) ? after : before) = middle;
  }
  return after;
}

}  // namespace

ValueCollector::CollectedValues ValueCollector::collect(const std::vector<HistorySource>& sources,
                                                        TimePoint now) {
  CollectedValues collected{.new_channels = {}, .batch = {.number = batches_, .channels = {}}};
  for (const HistorySource& source : sources) {
    const auto [found, is_new] = cursors_.try_emplace(source.history);
    Cursor& cursor = found->second;
    if (is_new) {
      cursor.id = cursors_.size();
      collected.new_channels.push_back(
          {.id = cursor.id, .device = source.device, .channel = source.history->channel()});
    }
    ChannelValues values = take(*source.history, cursor, now);
    if (!values.values.empty()) collected.batch.channels.push_back(std::move(values));
  }
  if (!collected.batch.channels.empty()) ++batches_;
  return collected;
}

ChannelValues ValueCollector::take(const History& history, Cursor& cursor, TimePoint now) {
  ChannelValues into{.channel = cursor.id, .period = history.period(), .values = {}};
  const Timeline& values = history.values();
  const auto oldest = cursor.taken ? cursor.taken : values.oldest();
  if (!oldest) return into;
  std::vector<StoredReading> readings;
  // A gauge's value may have been confirmed since.
  const auto held =
      history.is_counter() || !cursor.taken ? std::nullopt : values.at(*cursor.taken).before;
  if (held && held->last_confirmed > *cursor.taken) {
    readings.push_back(*held);
    readings.back().first_seen =
        std::max(*cursor.taken, held->last_confirmed - kLongestStoredValue);
  }
  values.for_each(*oldest, now, [&](const StoredReading& reading) {
    if (!cursor.taken || reading.first_seen > *cursor.taken) readings.push_back(reading);
  });
  // After the values: the reader adds an unknown interval before the value at its end.
  Taking taking{.cursor = cursor,
                .into = into,
                .unknown = {},
                .latest = stored_time(now) + std::chrono::milliseconds(1)};
  const auto note = [&](TimePoint begin, TimePoint end) { taking.unknown.push_back({begin, end}); };
  history.visit_unknown(*oldest, now, std::ref(note));
  for (const StoredReading& reading : readings) take_known(reading, taking);
  return into;
}

void ValueCollector::take_known(const StoredReading& reading, Taking& taking) {
  StoredReading part = reading;
  for (const Unknown& unknown : taking.unknown) {
    if (unknown.begin < part.first_seen || unknown.end > reading.last_confirmed) continue;
    part.last_confirmed = unknown.begin;
    take_steps(part, taking);
    part.first_seen = unknown.end;
  }
  part.last_confirmed = reading.last_confirmed;
  take_steps(part, taking);
}

void ValueCollector::take_steps(StoredReading part, Taking& taking) {
  const TimePoint last = part.last_confirmed;
  while (const auto step = first_step(part.first_seen, last)) {
    part.last_confirmed = *step - nanoseconds(1);
    take_part(part, taking);
    part.first_seen = *step;
  }
  part.last_confirmed = last;
  take_part(part, taking);
}

void ValueCollector::take_part(const StoredReading& part, Taking& taking) {
  Cursor& cursor = taking.cursor;
  std::vector<StoredValue>& values = taking.into.values;
  const TimePoint first = stored_time(part.first_seen);
  const TimePoint last =
      std::clamp(stored_time(part.last_confirmed), first, first + nanoseconds(kLongestStoredValue));
  // Times of readings are rounded down; those of unknown intervals are not.
  const bool is_unknown =
      cursor.taken && std::ranges::any_of(taking.unknown, [&](const Unknown& each) {
        return each.begin < part.first_seen && each.end > *cursor.taken + kCounterQuantum;
      });
  // A wall clock that was set leaves a time that is too long, too short or negative.
  const bool has_step = cursor.taken && wall_clock_stepped(*cursor.taken, part.first_seen);
  cursor.has_gap = cursor.has_gap || is_unknown || has_step;
  cursor.taken = part.last_confirmed;
  // The wall clock was set back over the time of this value, or of those before it.
  const bool is_ahead = last > taking.latest;
  const bool is_repeated = !values.empty() && first < values.back().last;
  if (is_ahead || is_repeated) {
    cursor.has_gap = true;
    return;
  }
  values.push_back({.first = first,
                    .last = last,
                    .raw = part.raw,
                    .has_gap = std::exchange(cursor.has_gap, false)});
}

}  // namespace wattle::daemon
