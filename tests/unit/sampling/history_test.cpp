#include "sampling/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "known_history.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::pair<Seconds, Seconds>> unknown_stretches(const KnownHistory& history,
                                                           nanoseconds begin, nanoseconds end) {
  std::vector<std::pair<Seconds, Seconds>> stretches;
  (*history).visit_unknown(kBegin + begin, kBegin + end, [&](TimePoint from, TimePoint to) {
    stretches.emplace_back(from - kBegin, to - kBegin);
  });
  return stretches;
}

// Counters.

TEST(CounterHistory, UnwrapsWhatItStores) {
  KnownHistory history(half_joules());
  history.read(0s, 900);
  history.read(1s, 50);
  history.read(2s, 100);
  ASSERT_TRUE(history->last());
  EXPECT_EQ(history->last()->ticks, 200U);
  EXPECT_EQ(history->last()->at, kBegin + 2s);
  EXPECT_EQ(history->values().size(), 3U);
}

TEST(CounterHistory, SaysWhereItWrapped) {
  KnownHistory history(half_joules());
  history.read(0s, 970);
  history.read(200ms, 990);
  history.read(400ms, 10);
  history.read(600ms, 30);
  EXPECT_THAT(history.flags(0s, 600ms), ElementsAre("wrapped"));
  EXPECT_THAT(history.flags(200ms, 400ms), ElementsAre("wrapped"));
  EXPECT_THAT(history.flags(0s, 200ms), IsEmpty());
  EXPECT_THAT(history.flags(400ms, 600ms), IsEmpty());
  EXPECT_EQ(history.unknown(0s, 600ms), 0s);
}

TEST(CounterHistory, IsUnknownAroundAReset) {
  KnownHistory history(half_joules());
  history.read(0s, 500);
  history.read(1s, 600);
  history.read(2s, 10);
  history.read(3s, 60);
  EXPECT_THAT(unknown_stretches(history, 0s, 3s), ElementsAre(Pair(1s, 2s)));
  EXPECT_THAT(history.flags(0s, 3s), ElementsAre("reset"));
}

TEST(CounterHistory, IsUnknownAroundAnImplausibleJump) {
  KnownHistory history(half_joules());
  history.read(0s, 0);
  history.read(1s, 900);
  history.read(2s, 950);
  EXPECT_THAT(unknown_stretches(history, 0s, 2s), ElementsAre(Pair(0s, 1s)));
  EXPECT_THAT(history.flags(0s, 2s), ElementsAre("implausible"));
}

TEST(CounterHistory, IsUnknownAcrossASuspend) {
  KnownHistory history(half_joules());
  history.read(0s, 0);
  history.suspend();
  history.read(1s, 900);
  history.read(2s, 950);
  EXPECT_THAT(unknown_stretches(history, 0s, 2s), ElementsAre(Pair(0s, 1s)));
  EXPECT_THAT(history.flags(0s, 2s), ElementsAre("gap"));
  EXPECT_EQ(history->last()->ticks, 50U);
}

TEST(CounterHistory, ConditionOfASubWindowIsThatOfItsPart) {
  KnownHistory history(half_joules());
  history.read(0s, 500);
  history.read(1s, 600);
  history.read(2s, 10);
  history.read(3s, 60);
  EXPECT_THAT(history.flags(0s, 1s), IsEmpty()) << "ends where the unknown stretch begins";
  EXPECT_EQ(history.unknown(0s, 1s), 0s);
  EXPECT_EQ(history.unknown(500ms, 1500ms), 500ms);
  EXPECT_THAT(history.flags(500ms, 1500ms), ElementsAre("reset"));
  EXPECT_EQ(history.unknown(1250ms, 1500ms), 250ms);
  EXPECT_THAT(history.flags(1250ms, 1500ms), ElementsAre("reset")) << "begins and ends inside it";
  EXPECT_EQ(history.unknown(1500ms, 3s), 500ms);
  EXPECT_THAT(history.flags(1500ms, 3s), ElementsAre("reset"));
  EXPECT_THAT(history.flags(2s, 3s), IsEmpty()) << "begins where it ends";
  EXPECT_EQ(history.unknown(2s, 3s), 0s);
}

TEST(CounterHistory, KeepsSeveralUnknownStretchesApart) {
  KnownHistory history(half_joules());
  history.read(0s, 500);
  history.read(1s, 10);
  history.read(2s, 20);
  history.suspend();
  history.read(3s, 30);
  EXPECT_THAT(unknown_stretches(history, 0s, 3s), ElementsAre(Pair(0s, 1s), Pair(2s, 3s)));
  EXPECT_THAT(history.flags(0s, 3s), ElementsAre("reset", "gap"));
  EXPECT_THAT(unknown_stretches(history, 500ms, 2500ms),
              ElementsAre(Pair(500ms, 1s), Pair(2s, 2500ms)));
}

TEST(CounterHistory, IsLostUntilItAnswersAgain) {
  KnownHistory history(half_joules());
  history.read(0s, 0);
  history.fail(1s, ReadStatus::gone);
  history.fail(2s, ReadStatus::gone);
  history.read(3s, 90);
  history.read(4s, 120);
  EXPECT_THAT(history.flags(0s, 900ms), IsEmpty());
  EXPECT_THAT(history.flags(0s, 4s), ElementsAre("lost"));
  EXPECT_THAT(history.flags(1500ms, 2500ms), ElementsAre("lost")) << "all the time";
  EXPECT_THAT(history.flags(3s, 4s), IsEmpty());
  EXPECT_EQ(history.unknown(0s, 4s), 0s) << "the counter went on meanwhile";
}

TEST(CounterHistory, IsUnknownFromBeforeItWasLostToAfterItWasReset) {
  KnownHistory history(half_joules());
  history.read(0s, 500);
  history.read(1s, 600);
  history.fail(2s, ReadStatus::gone);
  history.read(3s, 10);
  history.read(4s, 60);
  EXPECT_THAT(unknown_stretches(history, 0s, 4s), ElementsAre(Pair(1s, 3s)));
  EXPECT_THAT(history.flags(0s, 4s), ElementsAre("reset", "lost"));
  EXPECT_THAT(history.flags(1250ms, 1500ms), ElementsAre("reset")) << "not lost yet";
}

TEST(CounterHistory, TakesNothingFromReadingsWithoutAFreshValue) {
  for (const ReadStatus status : {ReadStatus::retry, ReadStatus::stale, ReadStatus::gone}) {
    KnownHistory history(half_joules());
    history.read(0s, 5);
    EXPECT_TRUE(history->is_fresh());
    history.fail(1s, status);
    EXPECT_FALSE(history->is_fresh());
    EXPECT_EQ(history->last()->at, kBegin);
    EXPECT_EQ(history->values().size(), 1U);
  }
}

TEST(CounterHistory, SaysSinceWhenItsValuesCompare) {
  KnownHistory history(half_joules());
  EXPECT_FALSE(history->track().is_known);
  history.read(0s, 500);
  history.read(1s, 600);
  EXPECT_EQ(history->track().first_raw, 500U);
  EXPECT_EQ(history->track().since, kBegin);
  EXPECT_EQ(history->track().losses, 0U);
  history.read(2s, 10);
  EXPECT_EQ(history->track().since, kBegin + 2s);
  EXPECT_EQ(history->track().losses, 1U);
}

TEST(CounterHistory, SaysWhenItMovedLast) {
  KnownHistory history(half_joules());
  history.read(0s, 5);
  history.read(1s, 10);
  history.read(2s, 10);
  history.fail(3s, ReadStatus::stale);
  EXPECT_EQ(history->track().moved_at, kBegin + 1s);
  EXPECT_EQ(history->track().read_at, kBegin + 3s);
  EXPECT_TRUE(history->track().is_known) << "it answers, though with its last value";
  history.fail(4s);
  EXPECT_FALSE(history->track().is_known);
  EXPECT_EQ(history->track().read_at, kBegin + 3s);
}

TEST(CounterHistory, LiesOnALineBetweenTwoReadings) {
  KnownHistory history(half_joules());
  history.read(0s, 100);
  history.read(1s, 200);
  const auto between = history->at(kBegin + 250ms);
  ASSERT_TRUE(between);
  EXPECT_EQ(between->at, kBegin + 250ms);
  EXPECT_EQ(static_cast<double>(between->ticks) + between->fraction, 25.0);
  EXPECT_EQ(between->bracket, 1s);
}

TEST(CounterHistory, IsExactAtTheTimesOfItsReadings) {
  KnownHistory history(half_joules());
  history.read(123ns, 100);
  history.read(1s + 456ns, 200);
  for (const auto& [at, ticks] : {std::pair{123ns, 0U}, {1s + 456ns, 100U}}) {
    const auto exact = history->at(kBegin + at);
    ASSERT_TRUE(exact) << "the nanoseconds of a time do not put it behind the reading";
    EXPECT_EQ(exact->at, kBegin + at);
    EXPECT_EQ(exact->ticks, ticks);
    EXPECT_EQ(exact->fraction, 0.0);
    EXPECT_EQ(exact->bracket, 0ns);
  }
}

TEST(CounterHistory, IsAbsentOutsideItsReadings) {
  KnownHistory history(half_joules());
  EXPECT_FALSE(history->at(kBegin));
  history.read(1s, 100);
  history.read(2s, 200);
  EXPECT_FALSE(history->at(kBegin + 999ms));
  EXPECT_FALSE(history->at(kBegin + 2001ms));
}

TEST(CounterHistory, TakesWhatItForgotForUnknown) {
  KnownHistory history(half_joules());
  constexpr int kWraps = 20'000;
  for (int i = 0; i <= kWraps; ++i) history.read(i * 1s, i % 2 == 0 ? 950 : 10);
  EXPECT_THAT(history.flags(0s, kWraps * 1s), testing::Contains("gap"));
  const Seconds unknown = history.unknown(0s, kWraps * 1s);
  EXPECT_GT(unknown, 1s);
  EXPECT_LT(unknown, kWraps * 1s);
  EXPECT_EQ(history.unknown(0s, 10s), 10s) << "all of it was forgotten";
  EXPECT_EQ(history.unknown((kWraps - 10) * 1s, kWraps * 1s), 5s) << "every other step is a jump";
}

// Gauges.

TEST(GaugeHistory, StoresAValueThatIsReadAgainOnce) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 10s, 100);
  EXPECT_EQ(history->values().size(), 1U);
  EXPECT_EQ(history->values().newest(), kBegin + 10s);
}

TEST(GaugeHistory, HoldsAValueUntilItIsDueAndOneUpdateMore) {
  KnownHistory history(whole_watts());
  EXPECT_EQ(history->hold(), 200ms);
  history.read(0ms, 100);
  history.read(200ms, 100);
  EXPECT_EQ(history.unknown(0s, 200ms), 0s);
  history.read(401ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 401ms), ElementsAre(Pair(400ms, 401ms)));
  EXPECT_THAT(history.flags(0s, 401ms), ElementsAre("gap"));
}

TEST(GaugeHistory, HoldsTwoPeriodsWhereNobodyKnowsTheUpdate) {
  Channel channel = whole_watts();
  channel.update = {};
  KnownHistory history(channel, {.period = 500ms});
  history.read(0s, 100);
  history.read(1s, 100);
  EXPECT_EQ(history.unknown(0s, 1s), 0s);
  history.read(2001ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 2001ms), ElementsAre(Pair(2s, 2001ms)));
}

TEST(GaugeHistory, HoldsAValueAsLongAsNothingMayBeHeardOfIt) {
  Channel channel = whole_watts();
  channel.update = {};
  KnownHistory history(channel, {.period = 100ms, .longest_pause = 2s});
  EXPECT_EQ(history->spacing(), 100ms);
  EXPECT_EQ(history->valid_for(), 2s);
  EXPECT_EQ(history->longest_age(), 200ms);
  history.read(0s, 100);
  history.read(2s, 100);
  EXPECT_EQ(history.unknown(0s, 2s), 0s);
  history.read(4500ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 4500ms), ElementsAre(Pair(4s, 4500ms)));
}

TEST(GaugeHistory, IsUnknownWhileReadsFail) {
  KnownHistory history(whole_watts());
  history.read(0s, 100);
  for (const nanoseconds at : {100ms, 200ms, 300ms, 400ms}) history.fail(at);
  EXPECT_THAT(unknown_stretches(history, 0s, 400ms), ElementsAre(Pair(200ms, 400ms)));
  history.read(500ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 600ms), ElementsAre(Pair(200ms, 500ms)));
}

TEST(GaugeHistory, IsUnknownFromWhereItsNextReadingIsOverdue) {
  KnownHistory history(whole_watts(), {.period = 100ms, .longest_period = 800ms});
  history.read(0s, 100);
  EXPECT_EQ(history.unknown(0s, 200ms), 0s);
  EXPECT_THAT(unknown_stretches(history, 0s, 1s), ElementsAre(Pair(200ms, 1s)));
  EXPECT_THAT(unknown_stretches(history, 500ms, 1s), ElementsAre(Pair(500ms, 1s)));
}

TEST(GaugeHistory, IsWholeThoughEveryOtherReadFails) {
  KnownHistory history(whole_watts());
  for (int i = 0; i < 10; ++i) {
    history.read(i * 200ms, 100);
    history.fail(i * 200ms + 100ms);
  }
  EXPECT_EQ(history.unknown(0s, 1800ms), 0s);
  EXPECT_THAT(history.flags(0s, 1800ms), IsEmpty());
}

TEST(GaugeHistory, BelievesAsLongAsItsPeriodAsks) {
  KnownHistory history(whole_watts(), {.period = 100ms, .longest_period = 800ms});
  EXPECT_EQ(history->hold(), 900ms);
  history.read(0s, 100);
  history->set_period(800ms);
  EXPECT_EQ(history->spacing(), 800ms);
  history.read(900ms, 100);
  EXPECT_EQ(history.unknown(0s, 900ms), 0s);
  history->set_period(100ms);
  EXPECT_EQ(history->spacing(), 100ms);
  history.read(1300ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 1300ms), ElementsAre(Pair(1100ms, 1300ms)));
}

TEST(GaugeHistory, LooksNoMoreOftenThanItsSensor) {
  Channel slow = whole_watts();
  slow.update.mean = 1s;
  EXPECT_EQ(KnownHistory(slow)->spacing(), 1s);
}

TEST(GaugeHistory, IsUnknownAcrossASuspend) {
  KnownHistory history(whole_watts());
  history.read(0ms, 100);
  history.suspend();
  history.read(100ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 200ms), ElementsAre(Pair(0s, 100ms)));
  EXPECT_THAT(history.flags(0s, 200ms), ElementsAre("gap"));
}

TEST(GaugeHistory, IsUnknownFromASuspendToTheNextValue) {
  KnownHistory history(whole_watts());
  history.read(0ms, 100);
  history.suspend();
  history.fail(100ms);
  history.suspend();
  history.fail(200ms);
  history.read(300ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 400ms), ElementsAre(Pair(0s, 300ms)));
}

TEST(GaugeHistory, IsLostUntilItAnswersAgain) {
  KnownHistory history(whole_watts());
  history.read(0ms, 100);
  history.fail(100ms, ReadStatus::gone);
  history.fail(500ms, ReadStatus::gone);
  history.read(600ms, 100);
  EXPECT_THAT(history.flags(0ms, 50ms), IsEmpty());
  EXPECT_THAT(history.flags(0ms, 150ms), ElementsAre("lost"));
  EXPECT_THAT(history.flags(300ms, 400ms), ElementsAre("gap", "lost"));
  EXPECT_THAT(unknown_stretches(history, 0s, 700ms), ElementsAre(Pair(200ms, 600ms)));
  EXPECT_THAT(history.flags(600ms, 1s), IsEmpty());
}

TEST(GaugeHistory, IsUnknownFromWhenItWasOverdueThoughItWasLostLater) {
  KnownHistory history(whole_watts(), {.period = 100ms, .longest_period = 800ms});
  history.read(0ms, 100);
  history.fail(500ms, ReadStatus::gone);
  history.read(600ms, 100);
  EXPECT_THAT(unknown_stretches(history, 0s, 700ms), ElementsAre(Pair(200ms, 600ms)));
}

TEST(GaugeHistory, SaysNothingBeforeItsFirstValue) {
  KnownHistory history(whole_watts());
  history.suspend();
  history.fail(0ms);
  history.read(1s, 100);
  EXPECT_EQ(history.unknown(0s, 1s), 0s);
  EXPECT_THAT(history.flags(0s, 1s), IsEmpty());
}

TEST(GaugeHistory, HoldsAValueUntilItIsOverdue) {
  KnownHistory history(whole_watts());
  history.read(1s, 100);
  history.read(1100ms, 100);
  EXPECT_EQ(history->held(kBegin + 999ms), std::nullopt);
  ASSERT_TRUE(history->held(kBegin + 1s));
  EXPECT_EQ(history->held(kBegin + 1299ms)->raw, 100U);
  EXPECT_EQ(history->held(kBegin + 1299ms)->first_seen, kBegin + 1s);
  EXPECT_EQ(history->held(kBegin + 1300ms), std::nullopt);
}

TEST(GaugeHistory, HoldsNothingWhereItIsUnknown) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 1s, 100);
  history.read(3s, 200);
  EXPECT_TRUE(history->held(kBegin + 1199ms));
  EXPECT_FALSE(history->held(kBegin + 1200ms));
  EXPECT_FALSE(history->held(kBegin + 2s));
  EXPECT_EQ(history->held(kBegin + 3s)->raw, 200U);
}

TEST(GaugeHistory, HoldsTheFirstValueAfterAGapFromTheTimeThatItIsStoredWith) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 1s, 100);
  history.read(12'345'678us, 200);
  const auto stored = history->values().at(TimePoint::max()).before;
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->first_seen, kBegin + 12'345'600us);
  const auto held = history->held(stored->first_seen);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->raw, 200U);
  EXPECT_EQ(history->held(stored->first_seen - 1us), std::nullopt);
}

TEST(GaugeHistory, HoldsNothingWhileTheMachineSlept) {
  KnownHistory history(whole_watts());
  history.read(0s, 100);
  history.suspend();
  history.read(150ms, 200);
  EXPECT_FALSE(history->held(kBegin + 100ms));
  EXPECT_EQ(history->held(kBegin + 150ms)->raw, 200U);
}

}  // namespace
}  // namespace wattle
