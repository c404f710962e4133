#include "sampling/counters/seen_end.hpp"

#include <algorithm>

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// An update of a counter that is read again and again.
struct SeenUpdate {
  TimePoint at;            ///< in the middle of the bracket
  nanoseconds bracket{0};  ///< from the last reading of the old value to the first of the new one
  std::uint64_t ticks = 0;
};

/// The first updates after a reading, and the last of them.
struct SeenUpdates {
  SeenUpdate first;
  SeenUpdate last;
  std::size_t count = 0;
  nanoseconds longest_bracket{0};
};

SeenUpdates updates_after(const History& history, const Boundary& end, nanoseconds longest) {
  SeenUpdates seen;
  TimePoint read_at = end.at;
  std::uint64_t ticks = end.ticks;
  history.values().for_each(end.at, end.at + longest, [&](const StoredReading& reading) {
    if (seen.count > SeenEnd::kUpdates) return;
    if (reading.first_seen > end.at && reading.raw != ticks) {
      const nanoseconds bracket = reading.first_seen - read_at;
      seen.last = {.at = read_at + bracket / 2, .bracket = bracket, .ticks = reading.raw};
      if (seen.count++ == 0) seen.first = seen.last;
      seen.longest_bracket = std::max(seen.longest_bracket, bracket);
      ticks = reading.raw;
    }
    read_at = reading.first_seen;
  });
  return seen;
}

}  // namespace

std::optional<SeenEnd> seen_end(const History& history, const Boundary& last) {
  constexpr int kFar = 20;      // updates: a counter may pause
  constexpr int kPaused = 2;    // times what is published
  constexpr int kReadings = 2;  // at least in each update
  const Channel& channel = history.channel();
  const UpdateInterval& update = channel.update;
  if (!update.known() || last.bracket > nanoseconds(0)) return std::nullopt;
  const SeenUpdates seen = updates_after(history, last, kFar * update.mean);
  if (seen.count < SeenEnd::kFewest || kReadings * seen.longest_bracket > update.mean)
    return std::nullopt;
  if (history.condition(last.at, seen.last.at).unknown > nanoseconds(0)) return std::nullopt;
  const nanoseconds length = seen.last.at - seen.first.at;
  const nanoseconds interval = length / static_cast<int>(seen.count - 1);
  // The counter paused, or is renewed less often than is published: nobody knows what it lacks.
  if (!update.is_observed && interval > kPaused * update.mean) return std::nullopt;
  const Watts after =
      Joules(channel.scale() * static_cast<double>(seen.last.ticks - seen.first.ticks)) /
      Seconds(length);
  const Joules until_update(channel.scale() * static_cast<double>(seen.first.ticks - last.ticks));
  return SeenEnd{.unseen = until_update - after * Seconds(seen.first.at - last.at),
                 .power_after = after,
                 .bracket = seen.first.bracket,
                 .interval = interval};
}

}  // namespace wattle
