#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "sampling/counters/fed_counter.hpp"

namespace wattle {
namespace {

constexpr std::chrono::milliseconds kFeedPause{1};

/// The places of both among the sensor's channels; absent where there is nothing to find out.
struct CounterAndGauge {
  std::size_t counter;
  std::size_t gauge;
};

std::optional<CounterAndGauge> open_feed(const Sensor& sensor) noexcept {
  const std::span<const Channel> channels = sensor.channels();
  const auto counter = std::ranges::find_if(channels, [](const Channel& channel) {
    return channel.counts_energy() && channel.counter.feed == CounterFeed::unknown;
  });
  const auto gauge = std::ranges::find_if(channels, rests_between_updates);
  if (counter == channels.end() || gauge == channels.end()) return std::nullopt;
  return CounterAndGauge{.counter = static_cast<std::size_t>(counter - channels.begin()),
                         .gauge = static_cast<std::size_t>(gauge - channels.begin())};
}

}  // namespace

bool is_feed_open(const Sensor& sensor) noexcept { return open_feed(sensor).has_value(); }

CounterFeed watch_feed(Sensor& sensor, std::chrono::nanoseconds length, const TimeSource& clock,
                       const std::function<bool()>& goes_on) {
  const auto both = open_feed(sensor);
  if (!both) return CounterFeed::unknown;
  constexpr std::size_t kFeedBytes = std::size_t{1} << 20U;
  const HistoryOptions options{.period = kFeedPause, .memory_limit = kFeedBytes};
  History counter(sensor.channels()[both->counter], options);
  History gauge(sensor.channels()[both->gauge], options);
  const ChannelSet wanted = ChannelSet().set(both->counter).set(both->gauge);
  std::vector<Reading> readings(sensor.channels().size());
  const TimePoint end = clock.now() + length;
  while (clock.now() < end && goes_on()) {
    sensor.read_some(wanted, readings);
    counter.add(readings[both->counter]);
    gauge.add(readings[both->gauge]);
    std::this_thread::sleep_for(kFeedPause);
  }
  return feed_evidence(counter, gauge, clock.now()).feed();
}

}  // namespace wattle
