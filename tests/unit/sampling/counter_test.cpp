#include "sampling/counters/counter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr CounterStep forward(std::uint64_t ticks, bool ambiguous = false) {
  return {.kind = StepKind::forward, .ambiguous = ambiguous, .ticks = ticks};
}
constexpr CounterStep wrapped(std::uint64_t ticks, bool ambiguous = false) {
  return {.kind = StepKind::wrapped, .ambiguous = ambiguous, .ticks = ticks};
}
constexpr CounterStep kFirst{.kind = StepKind::first};
constexpr CounterStep kReset{.kind = StepKind::reset};
constexpr CounterStep kImplausible{.kind = StepKind::implausible};

/// A counter in whole joules that goes around after 1000; at most 10 W; updates within 1 s. So
/// `s` seconds explain (s + 2) x 10 J, and one tick more by rounding.
class Counter : public testing::Test {
 protected:
  static constexpr CounterTraits kTraits{
      .tick = Joules(1.0), .modulus = 1000, .max_power = Watts(10.0)};
  static constexpr nanoseconds kUpdate = 1s;

  CounterStep after(nanoseconds elapsed, std::uint64_t raw) {
    now_ += elapsed;
    return counter_.update(raw, now_);
  }
  void start_at(std::uint64_t raw) {
    counter_.forget();
    ASSERT_EQ(after(0s, raw), kFirst);
  }

  CounterUnwrap counter_{kTraits, kUpdate};
  TimePoint now_{1h};
};

TEST_F(Counter, FirstValueIsComparedWithNothing) {
  EXPECT_EQ(after(0s, 999), kFirst);
  EXPECT_FALSE(kFirst.known());
}

TEST_F(Counter, RiseIsWhatWasSpent) {
  start_at(100);
  EXPECT_EQ(after(1s, 107), forward(7));
  EXPECT_EQ(after(1s, 110), forward(3));
}

TEST_F(Counter, StandingStillIsNothingSpent) {
  start_at(100);
  EXPECT_EQ(after(1s, 100), forward(0));
}

TEST_F(Counter, FallThatAWrapExplainsIsAWrap) {
  start_at(995);
  EXPECT_EQ(after(1s, 5), wrapped(10));
}

TEST_F(Counter, LastTickBeforeZeroCountsToo) {
  start_at(999);
  EXPECT_EQ(after(1s, 0), wrapped(1)) << "the modulus is the range plus one";
}

TEST_F(Counter, FallThatNoWrapExplainsIsAReset) {
  start_at(500);
  EXPECT_EQ(after(1s, 3), kReset);
  EXPECT_FALSE(kReset.known());
}

TEST_F(Counter, WrapIsBelievedUpToTheGreatestPower) {
  start_at(989);
  EXPECT_EQ(after(1s, 20), wrapped(31)) << "(1 s + 2 s) x 10 W and a rounding";
  start_at(988);
  EXPECT_EQ(after(1s, 20), kReset) << "one more";
}

TEST_F(Counter, RiseIsBelievedUpToTheGreatestPower) {
  start_at(100);
  EXPECT_EQ(after(1s, 131), forward(31));
  EXPECT_EQ(after(1s, 163), kImplausible);
  EXPECT_FALSE(kImplausible.known());
}

TEST_F(Counter, UpdateThatIsLateMayBringTwoIntervalsAtOnce) {
  start_at(100);
  EXPECT_EQ(after(0s, 120), forward(20)) << "no time passed, but two update intervals may show";
  EXPECT_EQ(after(0s, 142), kImplausible);
}

TEST_F(Counter, SingleTickIsAlwaysPossible) {
  // A joule a tick, 10 W, no delay: a microsecond brings 0.00001 ticks on average, but the one that
  // shows may have been about to come.
  CounterUnwrap coarse(kTraits, 0s);
  coarse.update(100, now_);
  EXPECT_EQ(coarse.update(101, now_ + 1us), forward(1));
  EXPECT_EQ(coarse.update(103, now_ + 2us), kImplausible);
}

TEST_F(Counter, GoesOnFromTheNewValueAfterAReset) {
  start_at(500);
  ASSERT_EQ(after(1s, 3), kReset);
  EXPECT_EQ(after(1s, 9), forward(6));
}

TEST_F(Counter, GoesOnFromTheNewValueAfterAnImplausibleJump) {
  start_at(100);
  ASSERT_EQ(after(1s, 900), kImplausible);
  EXPECT_EQ(after(1s, 905), forward(5));
}

TEST_F(Counter, WithoutAModulusEveryFallIsAReset) {
  CounterUnwrap endless({.tick = Joules(1.0), .modulus = 0, .max_power = Watts(10.0)}, 1s);
  endless.update(5'000'000'000, now_);
  EXPECT_EQ(endless.update(5'000'000'001, now_ + 1s), forward(1));
  EXPECT_EQ(endless.update(5'000'000'000, now_ + 2s), kReset);
}

TEST_F(Counter, WithoutAModulusNoRiseIsAmbiguous) {
  CounterUnwrap endless({.tick = Joules(1.0), .modulus = 0, .max_power = Watts(10.0)}, 1s);
  endless.update(0, now_);
  EXPECT_EQ(endless.update(1, now_ + 10000h), forward(1));
}

TEST_F(Counter, WrapIsAmbiguousOnceATenthOfTheRangeCouldHavePassed) {
  start_at(995);
  EXPECT_EQ(after(7800ms, 5), wrapped(10)) << "98 J and a rounding: just below 100";
  start_at(995);
  EXPECT_EQ(after(7900ms, 5), wrapped(10, true)) << "or a reset, and 5 J since";
}

TEST_F(Counter, RiseIsAmbiguousOnceAWholeTurnCouldHavePassed) {
  start_at(100);
  EXPECT_EQ(after(97s, 105), forward(5)) << "991 at most";
  EXPECT_EQ(after(98s, 110), forward(5, true)) << "1001 at most: once around, perhaps";
}

TEST_F(Counter, KnownStepIsTheLeastThatExplainsTheValue) {
  start_at(100);
  EXPECT_EQ(after(1h, 110), forward(10, true));
  EXPECT_EQ(after(1h, 100), wrapped(990, true));
}

TEST_F(Counter, ForgetsWhatItIsAskedToForget) {
  start_at(500);
  counter_.forget();
  EXPECT_EQ(after(1s, 3), kFirst);
  EXPECT_EQ(after(1s, 4), forward(1));
}

TEST_F(Counter, WhatALongTimeExplainsSaturates) {
  const CounterUnwrap fine({.tick = Joules(1e-9), .modulus = 0, .max_power = Watts(1e9)}, 1s);
  EXPECT_GE(fine.possible_ticks(nanoseconds::max() / 2), 9'200'000'000'000'000'000U);
}

TEST(KeeperPeriod, IsHalfTheShortestTurn) {
  // 65536 J at 2000 W: around in 32.8 s.
  const CounterTraits fine{.tick = Joules(1.0 / 65536.0),
                           .modulus = std::uint64_t{1} << 32U,
                           .max_power = Watts(2000.0)};
  EXPECT_EQ(keeper_period(fine), 16384ms);
}

TEST(KeeperPeriod, IsAMinuteAtMost) {
  const CounterTraits coarse{
      .tick = Joules(1.0 / 16384.0), .modulus = std::uint64_t{1} << 32U, .max_power = Watts(200.0)};
  EXPECT_EQ(keeper_period(coarse), 1min);
}

TEST(KeeperPeriod, IsAMinuteWhereNothingWraps) {
  EXPECT_EQ(keeper_period({.tick = Joules(1e-6), .modulus = 0, .max_power = Watts(1e6)}), 1min);
}

TEST(KeeperPeriod, IsNeverTooShortToBeKept) {
  EXPECT_EQ(keeper_period({.tick = Joules(1e-6), .modulus = 1, .max_power = Watts(1e6)}), 1ms);
}

TEST(KeeperPeriod, LeavesNoRoomForAWholeTurn) {
  const CounterTraits traits{.tick = Joules(1.0 / 65536.0),
                             .modulus = std::uint64_t{1} << 32U,
                             .max_power = Watts(2000.0)};
  const CounterUnwrap counter(traits, 1650us);
  EXPECT_LT(counter.possible_ticks(keeper_period(traits)), traits.modulus);
}

}  // namespace
}  // namespace wattle
