#include "sampling/energy_window.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

using Names = std::vector<std::string_view>;

constexpr TimePoint kBegin{1h};

/// Readings of a counter of half joules that goes around after 1000; at most 100 W.
class EnergyWindowTest : public testing::Test {
 protected:
  static Channel channel() {
    return {.domain = Domain::package(0),
            .counter = {.tick = Joules(0.5), .modulus = 1000, .max_power = Watts(100.0)},
            .update = {.mean = 1ms, .spread = 270us, .p99 = 2ms}};
  }

  void read(nanoseconds at, std::uint64_t raw, bool ends_interval = false) {
    window_.add({.at = kBegin + at, .raw = raw, .status = ReadStatus::ok}, ends_interval);
  }
  void fail(nanoseconds at, bool ends_interval = false, ReadStatus status = ReadStatus::retry) {
    window_.add({.at = kBegin + at, .raw = 777, .status = status}, ends_interval);
  }
  [[nodiscard]] EnergyFigure until(nanoseconds end) const {
    return window_.figure(kBegin, kBegin + end);
  }
  static Names names(const Flags& flags) {
    Names names;
    flags.each([&](std::string_view name) { names.push_back(name); });
    return names;
  }

  EnergyWindow window_{channel()};
};

TEST_F(EnergyWindowTest, OfAConstantPower) {
  for (int s = 0; s <= 5; ++s) read(s * 1s, 100 + 100 * static_cast<std::uint64_t>(s));
  const EnergyFigure figure = until(5s);
  EXPECT_EQ(figure.energy, Joules(250.0));
  EXPECT_EQ(figure.mean, Watts(50.0));
  EXPECT_EQ(figure.unknown.count(), 0.0);
  EXPECT_EQ(figure.method, "counter");
  EXPECT_EQ(names(figure.flags), Names{});
}

TEST_F(EnergyWindowTest, GoesOnAcrossWraps) {
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

TEST_F(EnergyWindowTest, IsExactToTheTick) {
  Channel fine = channel();
  fine.counter = {.tick = Joules(1.0 / 16384.0),
                  .modulus = std::uint64_t{1} << 32U,
                  .max_power = Watts(2000.0)};
  EnergyWindow window(fine);
  window.add({.at = kBegin, .raw = 0xFFFFFFFF, .status = ReadStatus::ok}, false);
  window.add({.at = kBegin + 1s, .raw = 1234567, .status = ReadStatus::ok}, false);
  EXPECT_EQ(window.figure(kBegin, kBegin + 1s).energy, Joules(1234568.0 / 16384.0));
}

TEST_F(EnergyWindowTest, WithAResetIsALowerBound) {
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

TEST_F(EnergyWindowTest, LeavesOutAnImplausibleJump) {
  read(0s, 0);
  read(1s, 900);
  read(2s, 950);
  const EnergyFigure figure = until(2s);
  EXPECT_EQ(figure.energy, Joules(25.0));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"implausible"});
}

TEST_F(EnergyWindowTest, SaysWhereItIsAmbiguous) {
  read(0s, 950);
  read(1s, 50);
  EXPECT_EQ(names(until(1s).flags), (Names{"wrapped", "ambiguous"}));
}

TEST_F(EnergyWindowTest, IsUnknownFromWhereTheSensorWasLost) {
  read(0s, 0);
  read(1s, 100);
  fail(2s, false, ReadStatus::gone);
  fail(3s, false, ReadStatus::gone);
  const EnergyFigure figure = until(3s);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.mean, Watts(50.0));
  EXPECT_EQ(figure.unknown, Seconds(2.0));
  EXPECT_EQ(names(figure.flags), (Names{"gap", "lost"}));
}

TEST_F(EnergyWindowTest, IsUnknownBeforeTheFirstValue) {
  fail(0s);
  read(1s, 0);
  read(2s, 100);
  const EnergyFigure figure = until(2s);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(EnergyWindowTest, IsUnknownBehindTheLastValue) {
  read(0s, 0);
  read(1s, 100);
  fail(3s);
  const EnergyFigure figure = until(3s);
  EXPECT_EQ(figure.energy, Joules(50.0));
  EXPECT_EQ(figure.unknown, Seconds(2.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(EnergyWindowTest, LosesNothingByAReadThatFailsInBetween) {
  read(0s, 0);
  fail(1s);
  read(2s, 200);
  const EnergyFigure figure = until(2s);
  EXPECT_EQ(figure.energy, Joules(100.0));
  EXPECT_EQ(figure.unknown.count(), 0.0);
  EXPECT_EQ(names(figure.flags), Names{});
}

TEST_F(EnergyWindowTest, TakesAValueThatWasNotRenewedForNone) {
  read(0s, 0);
  fail(1s, false, ReadStatus::stale);
  EXPECT_EQ(until(1s).energy, std::nullopt);
}

TEST_F(EnergyWindowTest, WithoutAnyValueIsUnknownAsAWhole) {
  fail(0s);
  fail(1s);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.mean, std::nullopt);
  EXPECT_EQ(figure.max, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(EnergyWindowTest, WithoutAnyReadingIsUnknownAsAWhole) {
  EXPECT_EQ(until(1s).energy, std::nullopt);
  EXPECT_EQ(until(1s).unknown, Seconds(1.0));
}

TEST_F(EnergyWindowTest, OfASingleValueIsUnknown) {
  read(500ms, 100);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"});
}

TEST_F(EnergyWindowTest, WithNothingButAResetIsUnknown) {
  read(0s, 500);
  read(1s, 50);
  const EnergyFigure figure = until(1s);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"reset"});
}

TEST_F(EnergyWindowTest, InsideItsReadingsHasNoGap) {
  read(-1ms, 0);
  read(1001ms, 100);
  EXPECT_EQ(until(1s).unknown.count(), 0.0);
  EXPECT_EQ(names(until(1s).flags), Names{});
}

TEST_F(EnergyWindowTest, IsUnknownAcrossASuspend) {
  read(0s, 500);
  read(1s, 600);
  window_.note_suspend();
  read(2s, 3);
  read(3s, 53);
  const EnergyFigure figure = until(3s);
  EXPECT_EQ(figure.energy, Joules(75.0));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_EQ(names(figure.flags), Names{"gap"}) << "the fall says nothing: no reset";
}

TEST_F(EnergyWindowTest, KeepsASuspendInMindWhileReadsFail) {
  read(0s, 500);
  window_.note_suspend();
  fail(1s);
  read(2s, 550);
  EXPECT_EQ(until(2s).energy, std::nullopt);
  EXPECT_EQ(until(2s).unknown, Seconds(2.0));
}

TEST_F(EnergyWindowTest, BeginsAfterASuspendAsIfNothingHadBeen) {
  window_.note_suspend();
  read(0s, 0);
  read(1s, 100);
  EXPECT_EQ(until(1s).energy, Joules(50.0));
  EXPECT_EQ(names(until(1s).flags), Names{});
}

TEST_F(EnergyWindowTest, ShorterThanAnUpdateGivesABound) {
  read(0s, 0);
  read(900us, 1);
  const EnergyFigure figure = until(900us);
  EXPECT_EQ(figure.energy, Joules(0.5));
  EXPECT_EQ(names(figure.flags), Names{"short_window"});
  EXPECT_EQ(figure.mean, std::nullopt) << "no power can be told";
  EXPECT_EQ(figure.uncertainty, Joules(0.2)) << "100 W for the 2 ms that an update may be late";
}

TEST_F(EnergyWindowTest, ShorterThanAnUpdateDoesNotCallItZero) {
  read(0s, 0);
  read(900us, 0);
  EXPECT_EQ(names(until(900us).flags), Names{"short_window"});
}

TEST_F(EnergyWindowTest, WhoseCounterStoodStillSaysZero) {
  read(0s, 100);
  read(1s, 100);
  EXPECT_EQ(until(1s).energy, Joules(0.0));
  EXPECT_EQ(names(until(1s).flags), Names{"zero"});
}

TEST_F(EnergyWindowTest, UncertaintyTakesThePowersNextToItsEnds) {
  read(0s, 0);
  read(1s, 20, true);
  read(2s, 40, true);
  read(3s, 200, true);
  const EnergyFigure figure = until(3s);
  const Joules expected = plain_counter_uncertainty({.energy = Joules(100.0),
                                                     .length = Seconds(3.0),
                                                     .power_after_begin = Watts(10.0),
                                                     .power_before_end = Watts(80.0),
                                                     .begin_half_width = 0ns,
                                                     .end_half_width = 0ns,
                                                     .tick = Joules(0.5),
                                                     .update = channel().update});
  EXPECT_EQ(figure.uncertainty, expected);
}

TEST_F(EnergyWindowTest, UncertaintyOfOneStretchTakesItsMeanPower) {
  window_.add({.at = kBegin, .half_width = 5us, .raw = 0, .status = ReadStatus::ok}, false);
  window_.add({.at = kBegin + 1s, .half_width = 7us, .raw = 100, .status = ReadStatus::ok}, false);
  const Joules expected = plain_counter_uncertainty({.energy = Joules(50.0),
                                                     .length = Seconds(1.0),
                                                     .power_after_begin = Watts(50.0),
                                                     .power_before_end = Watts(50.0),
                                                     .begin_half_width = 5us,
                                                     .end_half_width = 7us,
                                                     .tick = Joules(0.5),
                                                     .update = channel().update});
  EXPECT_EQ(until(1s).uncertainty, expected);
}

TEST_F(EnergyWindowTest, MaxIsTheHighestMeanOfAnInterval) {
  read(0s, 0);
  read(1s, 40, true);
  read(2s, 160, true);
  read(3s, 220, true);
  EXPECT_EQ(until(3s).max, Watts(60.0));
  EXPECT_EQ(window_.interval_power(), Watts(30.0)) << "of the last one";
}

TEST_F(EnergyWindowTest, MaxIsAbsentUnderTwoIntervals) {
  read(0s, 0);
  EXPECT_EQ(window_.interval_power(), std::nullopt);
  read(1s, 40, true);
  read(1500ms, 60);
  EXPECT_EQ(until(1500ms).max, std::nullopt);
  EXPECT_EQ(window_.interval_power(), Watts(20.0));
}

TEST_F(EnergyWindowTest, IntervalTakesTheReadsInBetween) {
  read(0s, 0);
  read(500ms, 90);
  read(1s, 100, true);
  EXPECT_EQ(window_.interval_power(), Watts(50.0));
}

TEST_F(EnergyWindowTest, FailedReadDoesNotInflateTheNextInterval) {
  read(0s, 0);
  read(1s, 100, true);
  fail(2s, true);
  EXPECT_EQ(window_.interval_power(), std::nullopt);
  read(3s, 300, true);
  EXPECT_EQ(window_.interval_power(), std::nullopt) << "200 ticks, but in two intervals";
  read(4s, 380, true);
  EXPECT_EQ(window_.interval_power(), Watts(40.0));
  EXPECT_EQ(until(4s).max, Watts(50.0));
  EXPECT_EQ(until(4s).energy, Joules(190.0)) << "and the energy is whole";
}

TEST_F(EnergyWindowTest, IntervalWithAnUnknownPartHasNoPower) {
  read(0s, 500);
  read(500ms, 50);
  read(1s, 60, true);
  EXPECT_EQ(window_.interval_power(), std::nullopt) << "a reset in it";
  window_.note_suspend();
  read(2s, 70, true);
  EXPECT_EQ(window_.interval_power(), std::nullopt) << "a suspend in it";
  read(3s, 80, true);
  EXPECT_EQ(window_.interval_power(), Watts(5.0));
}

TEST_F(EnergyWindowTest, IntervalThatBeganWithoutAValueHasNoPower) {
  fail(0s);
  read(500ms, 50);
  read(1s, 150, true);
  EXPECT_EQ(window_.interval_power(), std::nullopt);
  read(2s, 200, true);
  EXPECT_EQ(window_.interval_power(), Watts(25.0));
}

}  // namespace
}  // namespace wattle
