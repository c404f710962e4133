#include "sampling/update_observer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"
#include "known_history.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// The value that a channel shows at a time since the begin.
using Value = std::function<std::uint64_t(nanoseconds)>;

Channel counter() { return fakes::counter_channel(Domain::package(0)); }

Channel gauge() {
  return {.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant, .gauge = {}};
}

Reading reading_at(nanoseconds at, std::uint64_t raw, nanoseconds half_width = 0ns) {
  return {.at = kBegin + at, .half_width = half_width, .raw = raw, .status = ReadStatus::ok};
}

/// The observation of a channel that is read every `poll` for `length`.
Observation watch(const Channel& channel, nanoseconds length, nanoseconds poll,
                  const Value& value) {
  UpdateObserver observer(channel);
  for (nanoseconds at = 0ns; at < length; at += poll) observer.add(reading_at(at, value(at)));
  return observer.observation();
}

/// Steps by `step` each `period`.
Value regular(nanoseconds period, std::uint64_t step) {
  return [=](nanoseconds at) { return static_cast<std::uint64_t>(at / period) * step; };
}

/// Times of updates whose distances are normally distributed.
std::vector<nanoseconds> jittering(nanoseconds mean, nanoseconds spread, nanoseconds length) {
  std::mt19937_64 random(20240611);  // any seed
  std::normal_distribution<double> distance(static_cast<double>(mean.count()),
                                            static_cast<double>(spread.count()));
  std::vector<nanoseconds> times;
  for (nanoseconds at = 0ns; at < length; at += nanoseconds(std::llround(distance(random)))) {
    times.push_back(at);
  }
  return times;
}

/// 100 more from each of the times on.
Value stepping_at(std::vector<nanoseconds> times) {
  return [times = std::move(times)](nanoseconds at) {
    return 100U * static_cast<std::uint64_t>(std::ranges::upper_bound(times, at) - times.begin());
  };
}

void expect_near(nanoseconds seen, nanoseconds expected, nanoseconds tolerance) {
  EXPECT_NEAR(static_cast<double>(seen.count()), static_cast<double>(expected.count()),
              static_cast<double>(tolerance.count()));
}

TEST(UpdateObserver, FindsThePeriodAndTheStepOfACounter) {
  const Observation seen = watch(counter(), 300ms, 7us, regular(1ms, 160));
  EXPECT_EQ(seen.doubt, PeriodDoubt::none);
  EXPECT_EQ(seen.changes, 299U);
  expect_near(seen.interval.mean, 1ms, 1us);
  EXPECT_LE(seen.interval.spread, 7us);
  expect_near(seen.interval.p99, 1ms, 7us);
  EXPECT_EQ(seen.least_step, 160U);
  EXPECT_EQ(seen.median_step, 160U);
  EXPECT_EQ(seen.poll, 7us);
  EXPECT_EQ(seen.monotonic, true);
}

TEST(UpdateObserver, FindsHowIrregularUpdatesAre) {
  const Observation seen = watch(counter(), 2s, 10us, stepping_at(jittering(1000us, 100us, 2s)));
  EXPECT_EQ(seen.doubt, PeriodDoubt::none);
  expect_near(seen.interval.mean, 1000us, 10us);
  expect_near(seen.interval.spread, 100us, 6us);
  expect_near(seen.interval.p99, 1233us, 30us);  // where a normal distribution has it
}

TEST(UpdateObserver, SeesThatACounterPauses) {
  const auto pausing = [](nanoseconds at) {
    const nanoseconds since = at % 200ms;  // in the last 15 ms of which it is not renewed
    const nanoseconds renewed = at - since + std::min(since, nanoseconds(185ms));
    return 100U * static_cast<std::uint64_t>(renewed / 1ms);
  };
  EXPECT_TRUE(pauses(watch(counter(), 2s, 20us, pausing).interval));
  EXPECT_FALSE(pauses(watch(counter(), 2s, 20us, regular(1ms, 100)).interval));
}

TEST(UpdateObserver, GoesOnWhenItsMemoryIsFull) {
  const Observation seen = watch(counter(), 20s, 50us, stepping_at(jittering(1000us, 100us, 20s)));
  EXPECT_NEAR(static_cast<double>(seen.changes), 20'000.0, 100.0);
  expect_near(seen.interval.mean, 1000us, 10us);
  expect_near(seen.interval.spread, 100us, 8us);
}

TEST(UpdateObserver, FindsTheUpdatesOfAGauge) {
  const Observation seen = watch(gauge(), 4s, 1ms, [](nanoseconds at) {
    const auto update = static_cast<std::uint64_t>(at / 100ms);
    return 70'000 + update * 7919 % 1000;
  });
  EXPECT_EQ(seen.doubt, PeriodDoubt::none);
  expect_near(seen.interval.mean, 100ms, 1ms);
  EXPECT_EQ(seen.monotonic, std::nullopt) << "a gauge may fall";
}

/// Each third update brings the value of the one before.
TEST(UpdateObserver, TakesTheLongIntervalsOfAGaugeForMultiples) {
  const Observation seen = watch(gauge(), 6s, 1ms, [](nanoseconds at) {
    const auto update = static_cast<std::uint64_t>(at / 100ms);
    return 70'000 + (update - update / 3) % 10;
  });
  EXPECT_EQ(seen.doubt, PeriodDoubt::none);
  EXPECT_EQ(seen.changes, 40U);
  expect_near(seen.interval.mean, 100ms, 1ms);
  EXPECT_LE(seen.interval.p99, 101ms);
}

/// A change at the 2nd, 3rd, 7th, 12th, 18th ... update.
TEST(UpdateObserver, GivesABoundWhereAGaugeRarelyChanges) {
  const Observation seen = watch(gauge(), 60s, 1ms, [](nanoseconds at) {
    const double update = static_cast<double>(at / 100ms);
    return static_cast<std::uint64_t>(std::sqrt(8.0 * update) / 2.0);
  });
  EXPECT_EQ(seen.doubt, PeriodDoubt::hidden);
  EXPECT_FALSE(seen.interval.known());
  ASSERT_TRUE(seen.at_most);
  EXPECT_GE(*seen.at_most, 100ms);
}

/// 3.3 updates to a tick, as where a server's platform counter counts whole joules.
TEST(UpdateObserver, GivesABoundWhereACountersTickIsTooCoarse) {
  const Observation seen = watch(counter(), 300ms, 10us, [](nanoseconds at) {
    return static_cast<std::uint64_t>(static_cast<double>(at / 1ms) * 0.3);
  });
  EXPECT_EQ(seen.doubt, PeriodDoubt::hidden);
  ASSERT_TRUE(seen.at_most);
  EXPECT_GE(*seen.at_most, 1ms);
  EXPECT_EQ(seen.median_step, 1U);
}

TEST(UpdateObserver, SeesNoUpdateInAConstantValue) {
  const Observation seen = watch(gauge(), 1s, 1ms, [](nanoseconds) { return 350'000; });
  EXPECT_EQ(seen.doubt, PeriodDoubt::no_change);
  EXPECT_EQ(seen.changes, 0U);
  EXPECT_FALSE(seen.interval.known());
  EXPECT_FALSE(seen.at_most);
  EXPECT_EQ(seen.length, 999ms);
}

TEST(UpdateObserver, MakesNoFigureOutOfAFewChanges) {
  const Observation seen = watch(gauge(), 450ms, 1ms, regular(100ms, 5));
  EXPECT_EQ(seen.changes, 4U);
  EXPECT_EQ(seen.doubt, PeriodDoubt::few_changes);
  EXPECT_FALSE(seen.interval.known());
}

TEST(UpdateObserver, GivesABoundWhereItIsTooSlow) {
  const Observation seen = watch(counter(), 300ms, 3ms, regular(1ms, 160));
  EXPECT_EQ(seen.doubt, PeriodDoubt::slow_polls);
  EXPECT_FALSE(seen.interval.known());
  EXPECT_EQ(seen.at_most, 3ms);
}

TEST(UpdateObserver, GivesABoundThatHoldsForUpdatesAboutAsOftenAsItReads) {
  for (const nanoseconds period : {15'400us, 20'000us, 25'000us}) {
    for (const nanoseconds poll : {14ms, 15ms, 16ms}) {
      const Observation seen = watch(gauge(), 4s, poll, [=](nanoseconds at) {
        return 70'000 + static_cast<std::uint64_t>(at / period) * 7919 % 1000;
      });
      ASSERT_TRUE(seen.at_most) << period.count() << ", " << poll.count();
      const nanoseconds ends = poll * 2 / 100;  // the first and the last change, over 4 s
      EXPECT_GE(*seen.at_most, period - ends) << period.count() << ", " << poll.count();
      EXPECT_LE(*seen.at_most, 2 * period) << period.count() << ", " << poll.count();
    }
  }
}

TEST(UpdateObserver, KnowsThatASlowCallBlursTheTimeOfAChange) {
  const auto seen_with = [](nanoseconds half_width) {
    UpdateObserver observer(counter());
    for (nanoseconds at = 0ns; at < 300ms; at += 300us) {
      observer.add(reading_at(at, regular(1ms, 160)(at), half_width));
    }
    return observer.observation().doubt;
  };
  EXPECT_EQ(seen_with(10us), PeriodDoubt::none);
  EXPECT_EQ(seen_with(150us), PeriodDoubt::slow_polls);
}

/// The machine had something else to do for 5 ms of each 20: updates went by unseen.
TEST(UpdateObserver, LeavesOutWhatItDidNotSee) {
  UpdateObserver observer(counter());
  for (nanoseconds at = 0ns; at < 300ms; at += 10us) {
    if (at % 20ms >= 5ms) observer.add(reading_at(at, regular(1ms, 160)(at)));
  }
  const Observation seen = observer.observation();
  EXPECT_EQ(seen.doubt, PeriodDoubt::none);
  expect_near(seen.interval.mean, 1ms, 5us);
  EXPECT_LE(seen.interval.p99, 1010us);
}

TEST(UpdateObserver, NoticesACounterThatFalls) {
  const Observation seen = watch(counter(), 10ms, 10us, [](nanoseconds at) {
    return (at < 5ms ? 1'000'000U : 0U) + regular(1ms, 160)(at);
  });
  EXPECT_EQ(seen.monotonic, false);
  EXPECT_EQ(seen.changes, 8U) << "the fall is no update";
  EXPECT_EQ(seen.median_step, 160U);
  EXPECT_LE(seen.interval.p99, 1010us) << "nor does an interval span it";
}

TEST(UpdateObserver, TakesAWrapForNoFall) {
  const Channel channel = counter();
  const std::uint64_t modulus = channel.counter.modulus;
  const Observation seen = watch(channel, 2ms, 10us, [&](nanoseconds at) {
    return (modulus - 100 + regular(1ms, 160)(at)) % modulus;
  });
  EXPECT_EQ(seen.monotonic, true);
  EXPECT_EQ(seen.changes, 1U);
  EXPECT_EQ(seen.median_step, 160U) << "through the end";
}

TEST(UpdateObserver, CannotKnowWithoutTwoReadingsWhetherACounterFalls) {
  UpdateObserver observer(counter());
  EXPECT_EQ(observer.observation().doubt, PeriodDoubt::no_reading);
  observer.add(reading_at(0ms, 5));
  EXPECT_EQ(observer.observation().monotonic, std::nullopt);
  EXPECT_EQ(observer.observation().doubt, PeriodDoubt::no_change);
}

TEST(UpdateObserver, ReportsWhatAReadingCosts) {
  UpdateObserver observer(gauge());
  for (int i = 0; i < 100; ++i) observer.add(reading_at(i * 1ms, 0, i == 50 ? 400us : 20us));
  EXPECT_EQ(observer.observation().call, 40us);
  EXPECT_EQ(observer.observation().longest_call, 800us);
}

TEST(UpdateObserver, CountsReadingsThatFail) {
  UpdateObserver observer(gauge());
  observer.add({.at = kBegin, .raw = 7, .status = ReadStatus::gone});
  observer.add({.at = kBegin + 1ms, .raw = 9, .status = ReadStatus::retry});
  const Observation seen = observer.observation();
  EXPECT_EQ(seen.failed, 2U);
  EXPECT_EQ(seen.readings, 0U);
  EXPECT_EQ(seen.changes, 0U);
  EXPECT_EQ(seen.doubt, PeriodDoubt::no_reading);
}

TEST(PeriodDoubt, IsSaidInWords) {
  EXPECT_EQ(to_string(PeriodDoubt::none), "");
  EXPECT_EQ(to_string(PeriodDoubt::no_change), "it did not change");
}

class Observe : public testing::Test {
 protected:
  Observe() { clock_.advance_at_each_look(5us); }

  /// A counter renewed each millisecond, and one that stands still.
  [[nodiscard]] fakes::ScriptedSensor sensor() {
    const TimePoint begin = clock_.at();
    const auto show = [=](TimePoint now) {
      return fakes::Shown{.raw = regular(1ms, 160)(now - begin)};
    };
    return {{{counter(), show}, {counter(), [](TimePoint) { return fakes::Shown{.raw = 1}; }}},
            clock_};
  }

  fakes::VirtualClock clock_;
};

TEST_F(Observe, ReadsForAsLongAsIsSaid) {
  fakes::ScriptedSensor source = sensor();
  const TimePoint begin = clock_.at();
  const std::vector<Observation> seen = observe(source, ~ChannelSet(), {.length = 300ms}, clock_);
  expect_near(clock_.at() - begin, 300ms, 1ms);
  ASSERT_EQ(seen.size(), 2U);
  expect_near(seen[0].interval.mean, 1ms, 1us);
  EXPECT_EQ(seen[1].doubt, PeriodDoubt::no_change);
}

TEST_F(Observe, WatchesOnlyWhatIsWanted) {
  fakes::ScriptedSensor source = sensor();
  const auto seen = observe(source, ChannelSet().set(0), {.length = 10ms}, clock_);
  EXPECT_GT(seen[0].readings, 0U);
  EXPECT_EQ(seen[1].readings, 0U);
}

TEST_F(Observe, EndsWhenItMayNotGoOn) {
  fakes::ScriptedSensor source = sensor();
  int readings = 0;
  const auto seen =
      observe(source, ~ChannelSet(), {.length = 1h}, clock_, [&] { return readings++ < 3; });
  EXPECT_EQ(seen[0].readings, 3U);
}

TEST(UpdateObserver, ReportsTheMedianOfTwoChangesAlready) {
  const Observation seen = watch(gauge(), 1s, 1ms, regular(400ms, 1));
  EXPECT_NE(seen.doubt, PeriodDoubt::none);
  EXPECT_EQ(seen.median, 400ms);
  EXPECT_EQ(watch(gauge(), 500ms, 1ms, regular(400ms, 1)).median, std::nullopt);
}

}  // namespace
}  // namespace wattle
