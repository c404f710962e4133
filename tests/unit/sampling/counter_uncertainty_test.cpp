// How uncertain the energy of a counter is.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "known_history.hpp"
#include "read_counter.hpp"
#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {
using namespace std::chrono_literals;
using Names = std::vector<std::string_view>;

double interpolated(const EnergyFigure& whole, const EnergyFigure& plain) {
  return std::sqrt(std::pow(whole.uncertainty.si(), 2) - std::pow(plain.uncertainty.si(), 2));
}

TEST_F(CounterEnergy, IsUncertainBetweenReadingsByTheChangeOfPowerAroundThem) {
  read(0s, 0);
  read(1s, 20);
  read(2s, 180);
  read(3s, 180);
  // 10, 80 and 0 W: in the second of 80 W it can be off by 80 W x 1 s.
  EXPECT_NEAR(interpolated(between(0s, 1500ms), between(0s, 2s)), 80.0, 0.1);
  EXPECT_NEAR(interpolated(between(500ms, 2s), between(0s, 2s)), 70.0, 0.1);
}

TEST_F(CounterEnergy, IsCertainBetweenReadingsOfASteadyPower) {
  for (int s = 0; s <= 4; ++s) read(s * 1s, 100 * static_cast<std::uint64_t>(s));
  EXPECT_NEAR(between(500ms, 3500ms).uncertainty.si(), between(1s, 4s).uncertainty.si(), 1e-9);
}

TEST_F(CounterEnergy, BetweenTwoReadingsAloneCouldBeAnything) {
  read(0s, 0);
  read(1s, 100);
  EXPECT_GE(between(250ms, 750ms).uncertainty, Joules(50.0));
}

TEST_F(CounterEnergy, ReportsNoPowerWhereEventsWereForgotten) {
  constexpr int kWraps = 20'000;
  for (int i = 0; i <= kWraps; ++i) read(i * 1s, i % 2 == 0 ? 950 : 10);
  const EnergyFigure figure = between(0s, kWraps * 1s);
  EXPECT_EQ(figure.energy, Joules(0.5 * 60 * kWraps / 2)) << "a lower bound all the same";
  EXPECT_EQ(figure.mean, std::nullopt);
  EXPECT_TRUE(figure.flags.has(Flag::gap));
}

TEST_F(CounterEnergy, UncertaintyTakesThePowersNextToItsEnds) {
  read(0s, 0);
  read(1s, 20);
  read(2s, 40);
  read(3s, 200);
  const EnergyFigure figure = until(3s);
  const Joules expected = plain_counter_uncertainty({.power_at_begin = Watts(10.0),
                                                     .power_before_end = Watts(80.0),
                                                     .begin_half_width = 0ns,
                                                     .end_half_width = 0ns,
                                                     .tick = Joules(0.5),
                                                     .update = channel().update});
  EXPECT_NEAR(figure.uncertainty.si(), expected.si(), 1e-9);
}

TEST_F(CounterEnergy, UncertaintyTakesTheHighestPowerOfTheLastFewUpdates) {
  Channel slow = channel();
  slow.update = {.mean = 100ms, .p99 = 100ms};
  History history(slow, {.period = 100ms});
  std::uint64_t raw = 0;
  for (int i = 0; i <= 10; ++i, raw += i < 10 ? 2 : 16) {
    history.add({.at = kBegin + i * 100ms, .raw = raw, .status = ReadStatus::ok});
  }
  const EnergyFigure figure = counter_energy(history, {.begin = kBegin,
                                                       .end = kBegin + 1s,
                                                       .first = Boundary{.at = kBegin},
                                                       .last = history.last()});
  const Joules expected = plain_counter_uncertainty({.power_at_begin = Watts(10.0),
                                                     .power_before_end = Watts(80.0),
                                                     .begin_half_width = 0ns,
                                                     .end_half_width = 0ns,
                                                     .tick = Joules(0.5),
                                                     .update = slow.update});
  EXPECT_NEAR(figure.uncertainty.si(), expected.si(), 1e-9);
}

TEST_F(CounterEnergy, UncertaintyOfOneStretchTakesItsMeanPower) {
  read(0s, 0, 5us);
  read(1s, 100, 7us);
  const Joules expected = plain_counter_uncertainty({.power_at_begin = Watts(50.0),
                                                     .power_before_end = Watts(50.0),
                                                     .begin_half_width = 5us,
                                                     .end_half_width = 7us,
                                                     .tick = Joules(0.5),
                                                     .update = channel().update});
  EXPECT_DOUBLE_EQ(until(1s).uncertainty.si(), expected.si());
}

}  // namespace
}  // namespace wattle
