#include "base/schedule.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "known_history.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST(Schedule, BeginsOnePeriodLater) {
  const Schedule schedule(kBegin, 100ms);
  EXPECT_EQ(schedule.next(), kBegin + 100ms);
  EXPECT_EQ(schedule.missed(), 0U);
}

TEST(Schedule, StaysOnItsGridThoughTicksAreLate) {
  Schedule schedule(kBegin, 100ms);
  for (int tick = 1; tick <= 100; ++tick) {
    EXPECT_EQ(schedule.next(), kBegin + tick * 100ms);
    schedule.advance(schedule.next() + tick * 999us);
  }
  EXPECT_EQ(schedule.missed(), 0U);
}

TEST(Schedule, CountsMissedDeadlinesAndDoesNotMakeUpForThem) {
  Schedule schedule(kBegin, 100ms);
  schedule.advance(kBegin + 350ms);
  EXPECT_EQ(schedule.missed(), 2U) << "those at 200 and 300 ms";
  EXPECT_EQ(schedule.next(), kBegin + 400ms);
  schedule.advance(kBegin + 401ms);
  EXPECT_EQ(schedule.missed(), 2U);
  EXPECT_EQ(schedule.next(), kBegin + 500ms);
}

TEST(Schedule, MissesADeadlineAtWhichItsTickIsStillUnderWay) {
  Schedule schedule(kBegin, 100ms);
  schedule.advance(kBegin + 200ms);
  EXPECT_EQ(schedule.missed(), 1U);
  EXPECT_EQ(schedule.next(), kBegin + 300ms);
}

TEST(Schedule, MissesHoursAtOnce) {
  Schedule schedule(kBegin, 1ms);
  schedule.advance(kBegin + 24h);
  EXPECT_EQ(schedule.missed(), 24U * 3600U * 1000U - 1U);
  EXPECT_EQ(schedule.next(), kBegin + 24h + 1ms);
}

TEST(Schedule, TakesANewPeriodFromTheNextDeadlineOn) {
  Schedule schedule(kBegin, 100ms);
  schedule.set_period(400ms);
  EXPECT_EQ(schedule.next(), kBegin + 100ms);
  schedule.advance(kBegin + 101ms);
  EXPECT_EQ(schedule.next(), kBegin + 500ms);
  schedule.advance(kBegin + 1s);
  EXPECT_EQ(schedule.missed(), 1U);
  EXPECT_EQ(schedule.next(), kBegin + 1300ms);
}

/// Ten ticks of 100 ms each, of which reading takes `busy`: as long as it takes to decide.
void work(Backoff& backoff, nanoseconds busy) {
  for (int i = 0; i < 10; ++i) backoff.add(busy, 100ms);
}

TEST(Backoff, LetsCheapReadingBe) {
  Backoff backoff;
  for (int i = 0; i < 10; ++i) work(backoff, 900us);
  EXPECT_EQ(backoff.factor(), 1);
}

TEST(Backoff, DoublesUpToItsLimitWhileReadingCostsTooMuch) {
  Backoff backoff;
  for (const int factor : {2, 4, 8, 8, 8}) {
    work(backoff, 2ms);
    EXPECT_EQ(backoff.factor(), factor);
  }
}

TEST(Backoff, HalvesWhileReadingCostsLittle) {
  Backoff backoff;
  for (int i = 0; i < 3; ++i) work(backoff, 2ms);
  for (const int factor : {4, 2, 1, 1}) {
    work(backoff, 200us);
    EXPECT_EQ(backoff.factor(), factor);
  }
}

/// The first calls of a driver are the longest.
TEST(Backoff, ComesBackFromASlowStart) {
  Backoff backoff;
  for (int i = 0; i < 3; ++i) work(backoff, 5ms);
  for (int i = 0; i < 3; ++i) work(backoff, 350us);
  EXPECT_EQ(backoff.factor(), 1);
}

TEST(Backoff, DoesNotSwingWhereHalfThePeriodWouldCostTooMuch) {
  Backoff backoff;
  work(backoff, 2ms);
  ASSERT_EQ(backoff.factor(), 2);
  for (int i = 0; i < 10; ++i) {
    work(backoff, 600us);
    EXPECT_EQ(backoff.factor(), 2);
  }
}

TEST(Backoff, JudgesByTheShareOfAllTimeNotByOneSlowCall) {
  Backoff backoff;
  backoff.add(9ms, 100ms);
  for (int i = 0; i < 9; ++i) backoff.add(10us, 100ms);
  EXPECT_EQ(backoff.factor(), 1);
}

TEST(Backoff, DecidesAgainEveryTenTicks) {
  Backoff backoff;
  for (int i = 0; i < 9; ++i) backoff.add(50ms, 100ms);
  EXPECT_EQ(backoff.factor(), 1);
  backoff.add(50ms, 100ms);
  EXPECT_EQ(backoff.factor(), 2);
  work(backoff, 500us);
  EXPECT_EQ(backoff.factor(), 2) << "what was before is forgotten";
}

TEST(Backoff, TakesNoTimeAtAllForBusy) {
  Backoff backoff;
  for (int i = 0; i < 10; ++i) backoff.add(1us, 0ns);
  EXPECT_EQ(backoff.factor(), 2);
}

TEST(CallSpacing, LeavesACallItsShareOfTheTime) {
  CallSpacing spacing(250);
  EXPECT_TRUE(spacing.is_due(kBegin)) << "the first call";
  spacing.add(kBegin, kBegin + 2ms);
  EXPECT_FALSE(spacing.is_due(kBegin + 499ms));
  EXPECT_TRUE(spacing.is_due(kBegin + 500ms));
}

TEST(CallSpacing, IsTwoSecondsAtMost) {
  CallSpacing spacing(250);
  spacing.add(kBegin, kBegin + 1s);
  EXPECT_FALSE(spacing.is_due(kBegin + 1999ms));
  EXPECT_TRUE(spacing.is_due(kBegin + 2s));
}

}  // namespace
}  // namespace wattle
