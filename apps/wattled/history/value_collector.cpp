#include "history/value_collector.hpp"

#include <algorithm>
#include <utility>

namespace wattle::daemon {

using std::chrono::nanoseconds;

ValueCollector::Collected ValueCollector::collect(const std::vector<HistorySource>& sources,
                                                  TimePoint now) {
  Collected collected{.new_channels = {}, .batch = {.number = batches_, .channels = {}}};
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
  std::vector<Unknown> unknown;
  const auto note = [&](TimePoint begin, TimePoint end) { unknown.push_back({begin, end}); };
  if (history.is_counter()) history.visit_unknown(*oldest, now, std::ref(note));
  // Times of readings are rounded down; those of unknown intervals are not.
  const auto is_unknown_until = [&](TimePoint time) {
    return cursor.taken && std::ranges::any_of(unknown, [&](const Unknown& each) {
             return each.begin < time && each.end > *cursor.taken + kCounterQuantum;
           });
  };
  // A gauge's value may have been confirmed since.
  const auto held =
      history.is_counter() || !cursor.taken ? std::nullopt : values.at(*cursor.taken).before;
  if (held && held->last_confirmed > *cursor.taken) {
    StoredReading rest = *held;
    rest.first_seen = std::max(*cursor.taken, rest.last_confirmed - kLongestStoredValue);
    take(rest, false, cursor, into);
  }
  values.for_each(*oldest, now, [&](const StoredReading& reading) {
    if (cursor.taken && reading.first_seen <= *cursor.taken) return;
    take(reading, is_unknown_until(reading.first_seen), cursor, into);
  });
  return into;
}

void ValueCollector::take(const StoredReading& reading, bool is_unknown, Cursor& cursor,
                          ChannelValues& into) {
  const TimePoint first = stored_time(reading.first_seen);
  const TimePoint last = std::clamp(stored_time(reading.last_confirmed), first,
                                    first + nanoseconds(kLongestStoredValue));
  // A wall clock that was set leaves a time that is too long, too short or negative.
  const bool has_step = cursor.taken && wall_clock_stepped(*cursor.taken, reading.last_confirmed);
  cursor.has_gap = cursor.has_gap || is_unknown || has_step;
  cursor.taken = reading.last_confirmed;
  if (cursor.stored && last < *cursor.stored) {
    cursor.has_gap = true;
    return;
  }
  into.values.push_back({.first = std::max(first, cursor.stored.value_or(first)),
                         .last = last,
                         .raw = reading.raw,
                         .has_gap = std::exchange(cursor.has_gap, false)});
  cursor.stored = last;
}

}  // namespace wattle::daemon
