#include "sampling/counters/counter_lag.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "known_history.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// A counter of millijoules that shows its last update, 1 ms regularly.
Channel millijoules(bool is_observed) {
  return {.domain = Domain::package(0),
          .counter = {.tick = Joules(1e-3), .max_power = Watts(1000.0)},
          .update = {.mean = 1ms, .p99 = 1ms, .is_observed = is_observed}};
}

constexpr double kAgeS = 0.5e-3;

/// 20 W until the begin, 100 W from then on, of which the last readings are 10 ms apart.
class SteppedRun {
 public:
  explicit SteppedRun(bool is_observed, bool is_read_before = true)
      : history_(millijoules(is_observed), {.period = 10ms}) {
    if (is_read_before) history_.read(0ms, 0);
    history_.read(3ms, 60);
    first_ = history_->last().value();
    for (unsigned i = 1; i <= 10; ++i) history_.read(3ms + i * 10ms, 60 + 1000 * i);
  }
  [[nodiscard]] CounterLag lag(const EnergyWindow& window = {kBegin + 3ms, kBegin + 103ms}) const {
    return counter_lag(*history_, window, first_, (*history_).last().value(), Joules(10.0), {});
  }

 private:
  Boundary first_;
  KnownHistory history_;
};

TEST(CounterLag, IsTakenOffWhereThePowerBeforeWasReadAndThePaceObserved) {
  const CounterLag lag = SteppedRun(true).lag();
  EXPECT_NEAR(lag.bias.si(), kAgeS * (20.0 - 100.0), 1e-9);
  EXPECT_NEAR(lag.common.si(), 0.1 * kAgeS * (20.0 - 100.0), 1e-9);
  EXPECT_EQ(lag.power_before, Watts(20.0));
}

TEST(CounterLag, IsCommonWhereThePaceIsOnlyPublished) {
  const CounterLag lag = SteppedRun(false).lag();
  EXPECT_EQ(lag.bias, Joules());
  EXPECT_NEAR(lag.common.si(), 1.25 * kAgeS * (20.0 - 100.0), 1e-9);
}

TEST(CounterLag, IsThatAfterNoPowerWhereThePowerBeforeIsNotKnown) {
  const CounterLag lag = SteppedRun(true, false).lag();
  EXPECT_EQ(lag.bias, Joules());
  EXPECT_NEAR(lag.common.si(), -kAgeS * 100.0, 1e-9);
}

TEST(CounterLag, BelievesAnotherSensorWhereTheCounterWasNotReadBefore) {
  const CounterLag lag =
      SteppedRun(true, false)
          .lag({.begin = kBegin + 3ms, .end = kBegin + 103ms, .power_before = Watts(180.0)});
  EXPECT_NEAR(lag.bias.si(), kAgeS * (180.0 - 100.0), 1e-9);
}

TEST(CounterLag, IsNotInThePowerOfAWindowWithoutReadings) {
  KnownHistory history(millijoules(true), {.period = 10ms});
  history.read(0ms, 0);
  history.read(3ms, 60);  // 20 W
  const Boundary first = history->last().value();
  // 100 W for 4 ms, of which the last half millisecond is not shown: 0.01 + 0.35 J.
  history.read(7ms, 420);
  const CounterLag lag = counter_lag(*history, {kBegin + 3ms, kBegin + 7ms}, first,
                                     history->last().value(), Joules(0.36), {});
  EXPECT_NEAR(0.36 - lag.bias.si(), 0.4, 1e-9);
}

/// Times in microseconds and values of the readings of a counter, oldest first.
using TimedTicks = std::vector<std::pair<int, std::uint64_t>>;

/// How long the counter of `millijoules` had stood still at its last reading, by looking at all of
/// them.
nanoseconds standstill_of(const TimedTicks& readings) {
  const auto [end, ticks] = readings.back();
  std::optional<int> other;
  std::optional<int> since;
  for (const auto& [at, raw] : readings) {
    if (at < end - 100'000) continue;
    if (raw != ticks) {
      other = at;
    } else if (!since) {
      since = at;
    }
  }
  if (2 * (end - *since) <= 3 * 1000) return {};
  return std::chrono::microseconds(other ? end - *other : 4 * (end - *since));
}

TEST(StandstillBound, CountsTheTimeSinceTheLastReadingOfAnotherValue) {
  std::mt19937_64 random(7);
  std::size_t stood_still = 0;
  for (int world = 0; world < 400; ++world) {
    KnownHistory history(millijoules(false), {.period = 1ms});
    TimedTicks readings;
    const auto count = 1 + random() % 600;
    const auto longest = 1 + random() % 3000;
    const auto usual = 1 + random() % 40;  // readings between two updates
    std::uint64_t raw = 0;
    int at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      at += static_cast<int>(random() % longest);
      if (random() % usual == 0) raw += 1 + random() % 50;
      readings.emplace_back(at, raw);
      history.read(std::chrono::microseconds(at), raw);
    }
    const Watts mean(1e9);  // more than any power before
    const double expected_s = Seconds(standstill_of(readings)).count();
    const Joules bound = standstill_bound(*history, history->last().value(), mean);
    EXPECT_NEAR(bound.si() / (1.6 * mean.si()), expected_s, 1e-9) << "world " << world;
    if (expected_s > 0.0) ++stood_still;
  }
  EXPECT_GT(stood_still, 50U);
}

}  // namespace
}  // namespace wattle
