#include "base/anchor.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr double kTolerance = 1e-6;  // seconds since 1970 in a double: about 0.2 us

constexpr TimePoint at(nanoseconds steady) { return TimePoint(steady); }

/// The clocks were compared at `steady`, when the wall clock showed `wall`.
Anchor seen(nanoseconds steady, nanoseconds wall) {
  return {.since = at(steady), .unix_minus_steady = wall - steady};
}

/// Boot at wall time 1000 s; nothing stepped since.
AnchorHistory without_steps() {
  AnchorHistory history;
  history.observe(seen(0s, 1000s));
  return history;
}

/// At steady time 100 s the wall clock went from 1100 s to 1160 s.
AnchorHistory stepped_forward() {
  AnchorHistory history = without_steps();
  history.observe(seen(100s, 1160s));
  return history;
}

/// At steady time 100 s the wall clock went from 1100 s back to 1040 s.
AnchorHistory stepped_back() {
  AnchorHistory history = without_steps();
  history.observe(seen(100s, 1040s));
  return history;
}

TEST(Anchor, ConvertsBothWays) {
  const AnchorHistory history = without_steps();
  EXPECT_NEAR(history.to_unix(at(50s)), 1050.0, kTolerance);
  EXPECT_EQ(history.from_unix(1050.0), at(50s));
}

TEST(Anchor, ConvertsTimesBeforeTheFirstComparison) {
  const AnchorHistory history = without_steps();
  EXPECT_NEAR(history.to_unix(at(-50s)), 950.0, kTolerance);
  EXPECT_EQ(history.from_unix(950.0), at(-50s));
}

TEST(Anchor, TakesNoNoiseForAStep) {
  AnchorHistory history = without_steps();
  history.observe(seen(10s, 1010s + kClockStep));
  history.observe(seen(20s, 1020s - kClockStep));
  EXPECT_FALSE(history.stepped_between(at(0s), at(100s)));
  EXPECT_NEAR(history.to_unix(at(30s)), 1030.0, kTolerance);
}

TEST(Anchor, SeesAStepInEitherDirection) {
  EXPECT_TRUE(stepped_forward().stepped_between(at(0s), at(200s)));
  EXPECT_TRUE(stepped_back().stepped_between(at(0s), at(200s)));
}

TEST(Anchor, DatesAStepToItsComparison) {
  const AnchorHistory history = stepped_back();
  EXPECT_FALSE(history.stepped_between(at(0s), at(99s)));
  EXPECT_TRUE(history.stepped_between(at(99s), at(100s)));
  EXPECT_FALSE(history.stepped_between(at(100s), at(200s))) << "it began with the new relation";
}

TEST(Anchor, ShowsWhatTheWallClockShowedAtEachTime) {
  const AnchorHistory history = stepped_forward();
  EXPECT_NEAR(history.to_unix(at(99s)), 1099.0, kTolerance);
  EXPECT_NEAR(history.to_unix(at(100s)), 1160.0, kTolerance);
  EXPECT_NEAR(history.to_unix(at(101s)), 1161.0, kTolerance);
}

TEST(Anchor, AWallTimeThatWasSkippedIsTheMomentOfTheStep) {
  const AnchorHistory history = stepped_forward();
  EXPECT_EQ(history.from_unix(1130.0), at(100s));
  EXPECT_EQ(history.from_unix(1099.0), at(99s));
  EXPECT_EQ(history.from_unix(1161.0), at(101s));
}

TEST(Anchor, AWallTimeThatOccurredTwiceIsTheLaterOne) {
  const AnchorHistory history = stepped_back();
  EXPECT_EQ(history.from_unix(1050.0), at(110s));
  EXPECT_EQ(history.from_unix(1039.0), at(39s)) << "only once: before the step";
  EXPECT_EQ(history.from_unix(1150.0), at(210s)) << "only once: after it";
}

TEST(Anchor, FollowsStepsInBothDirectionsOneAfterTheOther) {
  AnchorHistory history = stepped_forward();  // 1100 to 1160 s at 100 s
  history.observe(seen(200s, 1200s));         // 1260 to 1200 s at 200 s
  EXPECT_EQ(history.from_unix(1210.0), at(210s)) << "the later of two";
  EXPECT_EQ(history.from_unix(1180.0), at(120s));
  EXPECT_EQ(history.from_unix(1130.0), at(100s)) << "skipped by the first step";
  EXPECT_EQ(history.from_unix(1050.0), at(50s));
}

TEST(Anchor, ForgetsTheOldestOfManySteps) {
  AnchorHistory history;
  constexpr int kSteps = 70;  // six more than it keeps
  for (int i = 0; i < kSteps; ++i) history.observe(seen(i * 10s, 1000s + i * 3600s));
  EXPECT_NEAR(history.to_unix(at(695s)), 1000.0 + 69 * 3600.0 + 5.0, kTolerance);
  EXPECT_NEAR(history.to_unix(at(61s)), 1000.0 + 6 * 3600.0 + 1.0, kTolerance)
      << "the oldest that is kept";
  EXPECT_FALSE(history.stepped_between(at(0s), at(60s))) << "forgotten";
  EXPECT_TRUE(history.stepped_between(at(60s), at(70s)));
}

TEST(Anchor, AnswersForNumbersThatAreNoTimes) {
  const AnchorHistory history = stepped_forward();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(history.from_unix(std::nan("")), TimePoint{});
  EXPECT_LT(history.from_unix(-infinity), at(nanoseconds::min() / 2));
  EXPECT_GT(history.from_unix(infinity), at(nanoseconds::max() / 2));
  EXPECT_EQ(history.from_unix(1e300), history.from_unix(infinity));
  EXPECT_EQ(history.from_unix(-1e300), history.from_unix(-infinity));
}

TEST(Anchor, AnswersForTheEndsOfTheSteadyClock) {
  for (const nanoseconds offset : {nanoseconds(1'700'000'000s), nanoseconds(-1'700'000'000s)}) {
    AnchorHistory history;
    history.observe({.since = at(0s), .unix_minus_steady = offset});
    EXPECT_GT(history.to_unix(TimePoint::max()), 7e9) << "the year 2191 at least";
    EXPECT_LT(history.to_unix(TimePoint::min()), -7e9);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_GT(history.from_unix(infinity), history.from_unix(0.0));
    EXPECT_LT(history.from_unix(-infinity), history.from_unix(0.0));
  }
}

}  // namespace
}  // namespace wattle
