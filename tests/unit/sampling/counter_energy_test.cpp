#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "known_history.hpp"
#include "read_counter.hpp"
#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST_F(CounterEnergy, OfAConstantPower) {
  for (int s = 0; s <= 5; ++s) read(s * 1s, 100 + 100 * static_cast<std::uint64_t>(s));
  const EnergyFigure figure = until(5s);
  EXPECT_EQ(figure.energy, Joules(250.0));
  EXPECT_EQ(figure.mean, Watts(50.0));
  EXPECT_EQ(figure.unknown.count(), 0.0);
  EXPECT_EQ(figure.method, Method::counter);
  EXPECT_EQ(names(figure.flags), Names{});
}

TEST_F(CounterEnergy, GoesOnAcrossWraps) {
  std::uint64_t ticks = 900;
  read(0s, ticks);
  for (int i = 1; i <= 30; ++i) {
    ticks += 79;
    read(i * 400ms, ticks % 1000);
  }
  const EnergyFigure figure = until(12s);
  EXPECT_EQ(figure.energy, Joules(0.5 * 30 * 79)) << "three turns";
  EXPECT_EQ(names(figure.flags), Names{"wrapped"});
}

TEST_F(CounterEnergy, IsExactToTheTick) {
  Channel fine = channel();
  fine.counter = {.tick = Joules(1.0 / 16384.0),
                  .modulus = std::uint64_t{1} << 32U,
                  .max_power = Watts(2000.0)};
  History history(fine, {.period = 1s});
  history.add({.at = kBegin, .raw = 0xFFFFFFFF, .status = ReadStatus::ok});
  history.add({.at = kBegin + 1s, .raw = 1234567, .status = ReadStatus::ok});
  EXPECT_EQ(counter_energy(history, {kBegin, kBegin + 1s}).energy, Joules(1234568.0 / 16384.0));
}

TEST_F(CounterEnergy, WithAResetIsALowerBound) {
  read(0s, 500);
  read(1s, 600);
  read(2s, 50);
  read(3s, 100);
  const EnergyFigure figure = until(3s);
  EXPECT_EQ(figure.energy, Joules(75.0)) << "100 ticks before, 50 after";
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(figure.mean, Watts(37.5)) << "over the two seconds that are known";
  EXPECT_EQ(names(figure.flags), Names{"reset"});
}

TEST_F(CounterEnergy, LeavesOutAnImplausibleJump) {
  read(0s, 0);
  read(1s, 900);
  read(2s, 950);
  const EnergyFigure figure = until(2s);
  EXPECT_EQ(figure.energy, Joules(25.0));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"implausible"});
}

TEST_F(CounterEnergy, SaysWhereItIsAmbiguous) {
  read(0s, 950);
  read(1s, 50);
  EXPECT_EQ(names(until(1s).flags), (Names{"wrapped", "ambiguous"}));
}

TEST_F(CounterEnergy, IsUnknownFromWhereTheSensorWasLost) {
  read(0s, 0);
  read(1s, 100);
  fail(2s, ReadStatus::gone);
  fail(3s, ReadStatus::gone);
  const EnergyFigure figure = until(3s);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.mean, Watts(50.0));
  EXPECT_EQ(figure.unknown, Seconds(2.0));
  EXPECT_EQ(names(figure.flags), (Names{"gap", "lost"}));
}

TEST_F(CounterEnergy, IsUnknownBeforeTheFirstValue) {
  fail(0s);
  read(1s, 0);
  read(2s, 100);
  const EnergyFigure figure = until(2s);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(CounterEnergy, IsUnknownAfterTheLastValue) {
  read(0s, 0);
  read(1s, 100);
  fail(3s);
  const EnergyFigure figure = until(3s);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.unknown, Seconds(2.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(CounterEnergy, LosesNothingByAReadThatFailsInBetween) {
  read(0s, 0);
  fail(1s);
  read(2s, 200);
  const EnergyFigure figure = until(2s);
  EXPECT_EQ(figure.energy, Joules(100.0));
  EXPECT_EQ(figure.unknown.count(), 0.0);
  EXPECT_EQ(names(figure.flags), Names{});
}

TEST_F(CounterEnergy, TakesAValueThatWasNotRenewedForNone) {
  read(0s, 0);
  fail(1s, ReadStatus::stale);
  EXPECT_EQ(until(1s).energy, std::nullopt);
}

TEST_F(CounterEnergy, WithoutAnyValueIsUnknownAsAWhole) {
  fail(0s);
  fail(1s);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.mean, std::nullopt);
  EXPECT_EQ(figure.max, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(CounterEnergy, WithoutAnyReadingIsUnknownAsAWhole) {
  EXPECT_EQ(until(1s).energy, std::nullopt);
  EXPECT_EQ(until(1s).unknown, Seconds(1.0));
}

TEST_F(CounterEnergy, OfASingleValueIsUnknown) {
  read(500ms, 100);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(CounterEnergy, WithNothingButAResetIsUnknown) {
  read(0s, 500);
  read(1s, 50);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"reset"});
}

TEST_F(CounterEnergy, InsideItsReadingsHasNoGap) {
  read(-1ms, 0);
  read(1001ms, 100);
  EXPECT_EQ(until(1s).unknown.count(), 0.0);
  EXPECT_EQ(names(until(1s).flags), Names{});
}

TEST_F(CounterEnergy, KnowsNoMoreThanItsWindowWhereReadingsLieOutsideOfIt) {
  read(-600ms, 0);
  read(-500ms, 10);
  read(900ms, 5);
  read(1s, 15);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.energy, Joules(5.0)) << "what was counted before the window is not in it";
  EXPECT_EQ(figure.known, Seconds(0.1));
  EXPECT_EQ(figure.unknown, Seconds(0.9));
}

TEST_F(CounterEnergy, IsUnknownAcrossASuspend) {
  read(0s, 500);
  read(1s, 600);
  history_.note_suspend();
  read(2s, 3);
  read(3s, 53);
  const EnergyFigure figure = until(3s);
  EXPECT_EQ(figure.energy, Joules(75.0));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"}) << "the fall says nothing: no reset";
}

TEST_F(CounterEnergy, KeepsASuspendInMindWhileReadsFail) {
  read(0s, 500);
  history_.note_suspend();
  fail(1s);
  read(2s, 550);
  EXPECT_EQ(until(2s).energy, std::nullopt);
  EXPECT_EQ(until(2s).unknown, Seconds(2.0));
}

TEST_F(CounterEnergy, BeginsAfterASuspendAsIfNothingHadBeen) {
  history_.note_suspend();
  read(0s, 0);
  read(1s, 100);
  EXPECT_EQ(until(1s).energy, Joules(50.0));
  EXPECT_EQ(names(until(1s).flags), Names{});
}

TEST_F(CounterEnergy, ShorterThanAnUpdateGivesABound) {
  read(0s, 0);
  read(900us, 1);
  const EnergyFigure figure = until(900us);
  EXPECT_EQ(figure.energy, Joules(0.5));
  EXPECT_EQ(names(figure.flags), Names{"short_window"});
  EXPECT_EQ(figure.mean, std::nullopt) << "no power can be told";
  EXPECT_EQ(figure.uncertainty, Joules(0.2)) << "100 W for the 2 ms that an update may be late";
}

TEST_F(CounterEnergy, ShorterThanAnUpdateDoesNotCallItZero) {
  read(0s, 0);
  read(900us, 0);
  EXPECT_EQ(names(until(900us).flags), Names{"short_window"});
}

TEST_F(CounterEnergy, WhoseCounterStoodStillSaysZero) {
  read(0s, 100);
  read(1s, 100);
  EXPECT_EQ(until(1s).energy, Joules(0.0));
  EXPECT_EQ(names(until(1s).flags), Names{"zero"});
}

EnergyFigure of_a_restless_device(nanoseconds length, std::uint64_t ticks) {
  KnownHistory history(restless_half_joules());
  history.read(0s, 100);
  const auto first = history->last();
  history.read(length, 100 + ticks);
  return counter_energy(
      *history, {.begin = kBegin, .end = kBegin + length, .first = first, .last = history->last()});
}

TEST(StuckCounter, IsUnknownAndSaysSo) {
  const EnergyFigure figure = of_a_restless_device(1s, 0);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.mean, std::nullopt);
  EXPECT_EQ(figure.known, Seconds(0.0));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"stuck"});
}

TEST(StuckCounter, IsUnknownInAWindowAskedForAfterwards) {
  KnownHistory history(restless_half_joules());
  for (int s = 0; s <= 4; ++s) history.read(s * 1s, 100);
  const EnergyFigure figure =
      counter_energy(*history, {.begin = kBegin + 500ms, .end = kBegin + 3500ms});
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(3.0));
  EXPECT_EQ(names(figure.flags), Names{"stuck"});
}

TEST(StuckCounter, IsNotOneThatMovedByATick) {
  EXPECT_EQ(of_a_restless_device(1s, 1).energy, Joules(0.5));
}

TEST(StuckCounter, IsNotReportedFromTenUpdates) {
  EXPECT_EQ(of_a_restless_device(20ms, 0).energy, Joules(0.0));
}

TEST(StuckCounter, IsNotReportedFromLessThanTenTicksOfTheLeastPower) {
  EXPECT_EQ(of_a_restless_device(500ms, 0).energy, Joules(0.0)) << "5 J are ten ticks";
  EXPECT_EQ(of_a_restless_device(501ms, 0).energy, std::nullopt);
}

/// 10 W for 10 s, then nothing more until `end`.
EnergyFigure of_a_counter_that_stops(nanoseconds end) {
  KnownHistory history(restless_half_joules());
  for (nanoseconds at = 0s; at <= end; at += 100ms) {
    history.read(at, static_cast<std::uint64_t>(std::min<nanoseconds>(at, 10s) / 50ms));
  }
  return counter_energy(*history, {.begin = kBegin, .end = kBegin + end, .last = history->last()});
}

TEST(StuckCounter, IsUnknownSinceItStoppedInTheWindow) {
  const EnergyFigure figure = of_a_counter_that_stops(30s);
  EXPECT_EQ(figure.energy, Joules(100.0)) << "at least";
  EXPECT_NEAR(figure.unknown.count(), 20.0, 2e-3);
  EXPECT_NEAR(figure.known.count(), 10.0, 2e-3);
  EXPECT_NEAR(figure.mean.value().si(), 10.0, 1e-2);
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

/// Of the device that answers late: what is after the window is not in it.
TEST(StuckCounter, IsUnknownNoLongerThanTheWindowIs) {
  KnownHistory history(restless_half_joules());
  for (nanoseconds at = 0s; at <= 30400ms; at += 100ms) {
    history.read(at, static_cast<std::uint64_t>(std::min<nanoseconds>(at, 10s) / 50ms));
  }
  const EnergyFigure figure =
      counter_energy(*history, {.begin = kBegin, .end = kBegin + 30s, .last = history->last()});
  EXPECT_EQ(figure.energy, Joules(100.0));
  EXPECT_NEAR(figure.unknown.count(), 20.0, 2e-3);
  EXPECT_NEAR(figure.known.count(), 10.0, 2e-3);
  EXPECT_NEAR(figure.mean.value().si(), 10.0, 1e-2);
}

TEST(StuckCounter, IsUnknownSinceItStoppedInAWindowAskedForAfterwards) {
  KnownHistory history(restless_half_joules());
  for (nanoseconds at = 0s; at <= 31s; at += 1ms) {
    history.read(at, static_cast<std::uint64_t>(std::min<nanoseconds>(at, 10s) / 50ms));
  }
  const EnergyFigure figure = counter_energy(*history, {.begin = kBegin, .end = kBegin + 30s});
  EXPECT_EQ(figure.energy, Joules(100.0));
  EXPECT_NEAR(figure.unknown.count(), 20.0, 2e-3);
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST(StuckCounter, IsNotOneThatIsLateByLessThanASecond) {
  EXPECT_EQ(of_a_counter_that_stops(10900ms).unknown, Seconds(0.0));
}

TEST(StuckCounter, IsNotUnknownTwiceWhereItCouldNotBeRead) {
  KnownHistory history(restless_half_joules());
  history.read(0s, 0);
  history.read(10s, 200);
  history.suspend();
  history.read(30s, 200);
  const EnergyFigure figure =
      counter_energy(*history, {.begin = kBegin, .end = kBegin + 30s, .last = history->last()});
  EXPECT_EQ(figure.energy, Joules(100.0));
  EXPECT_EQ(figure.unknown, Seconds(20.0));
}

TEST_F(CounterEnergy, OfADirectReadingAMomentInsideTheWindowHasNoGap) {
  read(50us, 0);
  read(1s - 50us, 99);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.unknown, Seconds(0.0));
  EXPECT_EQ(names(figure.flags), Names{});
  EXPECT_EQ(figure.known, Seconds(1.0));
  EXPECT_GT(figure.uncertainty, Joules(0.0));
}

TEST_F(CounterEnergy, OfADirectReadingFarInsideTheWindowHasAGap) {
  read(6ms, 0);
  read(1s, 99);
  EXPECT_EQ(until(1s).unknown, Seconds(0.006));
  EXPECT_EQ(names(until(1s).flags), Names{"gap"});
}

// Windows asked for afterwards, whose ends lie between readings.

TEST_F(CounterEnergy, LiesOnLinesBetweenReadings) {
  read(0s, 0);
  read(1s, 100);
  read(2s, 120);
  const EnergyFigure figure = between(250ms, 1500ms);
  EXPECT_EQ(figure.energy, Joules(0.5 * (75 + 10)));
  EXPECT_EQ(figure.known, Seconds(1.25));
  EXPECT_EQ(figure.unknown, Seconds(0.0));
  EXPECT_EQ(names(figure.flags), Names{});
}

TEST_F(CounterEnergy, LiesOnALineInsideOneInterval) {
  read(0s, 900);
  read(1s, 20);
  EXPECT_EQ(between(250ms, 750ms).energy, Joules(30.0)) << "half of 120 ticks, across a wrap";
}

TEST_F(CounterEnergy, OfAdjacentWindowsAddsUp) {
  read(0s, 0);
  read(1s, 100);
  read(2s, 137);
  EXPECT_EQ(*between(300ms, 1100ms).energy + *between(1100ms, 1900ms).energy,
            *between(300ms, 1900ms).energy);
}

TEST_F(CounterEnergy, EndsExactlyAtItsLastReading) {
  read(123ns, 0);
  read(1s + 456ns, 100);
  const EnergyFigure figure = between(123ns, 1s + 456ns);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.unknown, Seconds(0.0));
  EXPECT_EQ(names(figure.flags), Names{});
}

TEST_F(CounterEnergy, IsUnknownOutsideItsReadings) {
  read(1s, 0);
  read(2s, 100);
  const EnergyFigure figure = between(500ms, 2250ms);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.unknown, Seconds(0.75));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(CounterEnergy, BeginsInsideAnUnknownStretch) {
  read(0s, 500);
  read(1s, 50);
  read(2s, 150);
  const EnergyFigure figure = between(250ms, 1500ms);
  EXPECT_EQ(figure.energy, Joules(25.0)) << "nothing of the second with the reset";
  EXPECT_EQ(figure.known, Seconds(0.5));
  EXPECT_EQ(figure.unknown, Seconds(0.75));
  EXPECT_EQ(names(figure.flags), Names{"reset"});
}

TEST_F(CounterEnergy, InsideAnUnknownStretchIsUnknown) {
  read(0s, 500);
  read(1s, 50);
  const EnergyFigure figure = between(250ms, 750ms);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(0.5));
}

/// The half of the uncertainty that comes from an end between two readings.
}  // namespace
}  // namespace wattle
