#include "sampling/counters/counter_pause.hpp"

#include <algorithm>

namespace wattle {

using std::chrono::nanoseconds;

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

}  // namespace wattle
