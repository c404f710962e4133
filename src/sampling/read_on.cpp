#include "sampling/read_on.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "sampling/counters/seen_end.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

constexpr int kReadingsPerUpdate = 10;

/// A counter that is waited for.
struct AwaitedCounter {
  const History* history;
  std::optional<std::uint64_t> ticks{};  ///< that it showed last
  std::size_t updates = 0;

  void look(TimePoint now) noexcept {
    const auto shown = history->values().at(now).before;
    if (!shown) return;
    if (ticks && *ticks != shown->raw) ++updates;
    ticks = shown->raw;
  }
};

/// Those that can be renewed twice within `longest`.
std::vector<AwaitedCounter> awaited(const Readings& readings, bool in_lanes, nanoseconds longest,
                                    TimePoint since = TimePoint::min()) {
  std::vector<AwaitedCounter> counters;
  const std::size_t domains = readings.domains().size();
  counters.reserve(domains);
  for (std::size_t domain = 0; domain < domains; ++domain) {
    const History* const counter = readings.counter(domain);
    if (counter == nullptr || readings.may_block(domain) != in_lanes) continue;
    const UpdateInterval& update = counter->channel().update;
    if (!update.known() || static_cast<int>(SeenEnd::kFewest) * update.mean > longest) continue;
    const auto newest = counter->values().newest();
    if (newest && *newest + kCounterQuantum >= since) counters.push_back({.history = counter});
  }
  return counters;
}

/// How often they are read: several times in the shortest of their updates.
nanoseconds pause_between(const std::vector<AwaitedCounter>& counters) noexcept {
  const auto fastest = std::ranges::min_element(counters, {}, [](const AwaitedCounter& counter) {
    return counter.history->channel().update.mean;
  });
  return fastest->history->channel().update.mean / kReadingsPerUpdate;
}

/// Calls `read` until each counter was renewed `updates` times, or the time is up.
template <class Read>
void read_until(std::vector<AwaitedCounter> counters, std::size_t updates, nanoseconds longest,
                const TimeSource& clock, Read read) {
  if (counters.empty()) return;
  const nanoseconds pause = pause_between(counters);
  const TimePoint deadline = clock.now() + longest;
  const auto is_awaited = [&](const AwaitedCounter& counter) { return counter.updates < updates; };
  for (;;) {
    const TimePoint now = clock.now();
    for (AwaitedCounter& counter : counters) counter.look(now);
    if (now >= deadline || std::ranges::none_of(counters, is_awaited)) return;
    std::this_thread::sleep_for(pause);
    read();
  }
}

}  // namespace

nanoseconds longest_reading_on(nanoseconds length) noexcept {
  constexpr nanoseconds kLongest = std::chrono::milliseconds(250);
  return std::min(length / 2, kLongest);
}

void read_on(Readings& readings, nanoseconds longest) {
  // Counters of processors are renewed within a millisecond or two; one that stands still is not
  // waited for much longer.
  constexpr nanoseconds kLongest = std::chrono::milliseconds(10);
  const nanoseconds most = std::min(longest, kLongest);
  read_until(awaited(readings, false, most), SeenEnd::kUpdates, most, readings.clock(),
             [&] { readings.read(); });
}

void read_lanes_on(Readings& readings, TimePoint end, nanoseconds longest) {
  // A lane that has not done its last reading is not asked again.
  read_until(awaited(readings, true, longest, end), SeenEnd::kFewest, longest, readings.clock(),
             [&] { (void)readings.ask_lanes(); });
}

}  // namespace wattle
