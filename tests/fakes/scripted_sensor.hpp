// A sensor whose counters do what a test says.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle::fakes {

/// What a counter shows.
struct Shown {
  std::uint64_t raw = 0;
  ReadStatus status = ReadStatus::ok;
};

struct ScriptedCounter {
  Channel channel;
  std::function<Shown(TimePoint now)> script;
};

/// A counter of 2^32 ticks of 2^-14 J, from 0.1 W to 2 kW, renewed each millisecond.
inline Channel counter_channel(Domain domain) {
  using std::chrono::microseconds;
  return {.domain = domain,
          .counter = {.tick = Joules(1.0 / 16384.0),
                      .modulus = std::uint64_t{1} << 32U,
                      .max_power = Watts(2000.0),
                      .least_power = Watts(0.1)},
          .update = {.mean = microseconds(1000),
                     .spread = microseconds(270),
                     .p99 = microseconds(1650)},
          .contained_in = {},
          .source = "script",
          .place = {}};
}

/// Advances evenly from `start` ticks at `begin`, and wraps.
inline ScriptedCounter constant_power(Channel channel, Watts power, TimePoint begin,
                                      std::uint64_t start = 0) {
  const CounterTraits traits = channel.counter;
  return {std::move(channel), [=](TimePoint now) {
            const Joules energy = power * Seconds(now - begin);
            const auto ticks = static_cast<std::uint64_t>(energy / traits.tick);
            const std::uint64_t raw = start + ticks;
            return Shown{.raw = traits.modulus == 0 ? raw : raw % traits.modulus};
          }};
}

/// Threads: one at a time.
class ScriptedSensor final : public Sensor {
 public:
  /// `clock` outlives it.
  ScriptedSensor(std::vector<ScriptedCounter> counters, const TimeSource& clock) : clock_(clock) {
    for (ScriptedCounter& counter : counters) {
      channels_.push_back(std::move(counter.channel));
      scripts_.push_back(std::move(counter.script));
    }
  }

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }

  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    for (std::size_t i = 0; i < scripts_.size(); ++i) {
      const TimePoint now = clock_.now();
      const Shown shown = scripts_[i](now);
      readings[i] = {.at = now, .raw = shown.raw, .status = shown.status};
    }
  }

 private:
  std::vector<Channel> channels_;
  std::vector<std::function<Shown(TimePoint)>> scripts_;
  const TimeSource& clock_;
};

}  // namespace wattle::fakes
