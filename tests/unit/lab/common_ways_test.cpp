#include "lab/common_ways.hpp"

#include <gtest/gtest.h>

namespace wattle::lab {
namespace {

Machine gauge_machine() {
  return {.name = "gauge",
          .gauge = GaugeModel{.name = "gauge", .update = {.mean_s = 0.1}, .window_s = 0.0},
          .random_phase = false};
}

TEST(Trapezoid, FindsNothingUnderAConstantLoad) {
  World world(gauge_machine(), {.name = "", .shape = Waveform::constant(100.0)}, 1);
  EXPECT_EQ(trapezoid(world, 10.0).energy_j, 0.0);
}

TEST(Trapezoid, DrawsALineOverTheTimeInWhichNothingChanged) {
  World world(gauge_machine(), {.name = "", .shape = Waveform::step(100.0, 300.0).delayed(5.0)}, 1);
  // From the first sample to the first after the step: 5 s at 200 W, and nothing after it.
  EXPECT_NEAR(trapezoid(world, 10.0).energy_j.value(), 1000.0, 25.0);
}

TEST(Trapezoid, IsRightWhereThePowerAlwaysChanges) {
  const Waveform load = Waveform::sine(250.0, 100.0, 7.0);
  World world(gauge_machine(), {.name = "", .shape = load}, 1);
  EXPECT_NEAR(trapezoid(world, 10.0).energy_j.value(), load.energy_j(0.0, 10.0), 50.0);
}

TEST(OneSecondPolls, TakeTheLastValueForTheWholeSecond) {
  World world(gauge_machine(), {.name = "", .shape = Waveform::step(100.0, 300.0).delayed(0.9)}, 1);
  EXPECT_NEAR(one_second_polls(world, 2.0).energy_j.value(), 600.0, 1e-9);
}

TEST(OneSecondPolls, CountTheLastPartOfASecondToo) {
  World world(gauge_machine(), {.name = "", .shape = Waveform::constant(100.0)}, 1);
  EXPECT_NEAR(one_second_polls(world, 2.5).energy_j.value(), 250.0, 1e-9);
}

TEST(TwoReads, GiveTheDifferenceAcrossAWrap) {
  // A modulus of 0.5 J wraps on the way, and no more than once in 4 ms at 100 W.
  const Machine machine = {.name = "package",
                           .counter = CounterModel{.name = "package",
                                                   .domain = Domain::package(0),
                                                   .update = {.mean_s = 1e-6},
                                                   .modulus = 8192}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world(machine, {.name = "", .shape = Waveform::constant(100.0)}, seed);
    EXPECT_NEAR(two_reads(world, 0.004).energy_j.value(), 0.4, 1e-3);
  }
}

}  // namespace
}  // namespace wattle::lab
