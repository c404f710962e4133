#include "sampling/energy_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace wattle {
namespace {

EnergyFigure window_of(double energy_j, double known_s, double uncertainty_j, double common_j) {
  return {.energy = Joules(energy_j),
          .uncertainty = Joules(uncertainty_j),
          .common = Joules(common_j),
          .known = Seconds(known_s),
          .mean = Watts(energy_j / known_s)};
}

TEST(WindowSum, AddsWhatComesBackWithItsSignAndTheRestInQuadrature) {
  WindowSum sum;
  sum.add(window_of(10.0, 1.0, 5.0, 3.0));
  sum.add(window_of(20.0, 1.0, 5.0, -3.0));
  const EnergyFigure both = sum.result();
  EXPECT_EQ(both.energy, Joules(30.0));
  EXPECT_EQ(both.common, Joules(0.0));
  EXPECT_DOUBLE_EQ(both.uncertainty.si(), std::sqrt(4.0 * 4.0 * 2.0));
  EXPECT_EQ(both.mean, Watts(15.0));
}

TEST(WindowSum, IsALowerBoundWhereAWindowIsUnknown) {
  WindowSum sum;
  sum.add(window_of(10.0, 1.0, 1.0, 0.0));
  // A counter that is stuck: it was read, but shows no energy.
  EnergyFigure stuck{.known = Seconds(2.0), .unknown = Seconds(0.5)};
  stuck.flags.set(Flag::stuck);
  sum.add(stuck);
  const EnergyFigure both = sum.result();
  EXPECT_EQ(both.energy, Joules(10.0));
  EXPECT_EQ(both.known, Seconds(1.0));
  EXPECT_EQ(both.unknown, Seconds(2.5));
  EXPECT_EQ(both.mean, std::nullopt);
  EXPECT_TRUE(both.flags.has(Flag::stuck));
}

TEST(WindowSum, OfUnknownWindowsIsUnknown) {
  WindowSum sum;
  EXPECT_EQ(sum.result().energy, std::nullopt);
  sum.add({.unknown = Seconds(3.0)});
  EXPECT_EQ(sum.result().energy, std::nullopt);
  EXPECT_EQ(sum.result().unknown, Seconds(3.0));
}

TEST(WindowSum, SaysForHowLongAGaugeGaveTheEnergy) {
  WindowSum sum;
  sum.add(window_of(10.0, 1.0, 1.0, 0.0));
  EnergyFigure gauge = window_of(10.0, 2.0, 1.0, 0.0);
  gauge.method = Method::integrated;
  sum.add(gauge);
  EXPECT_EQ(sum.integrated(), Seconds(2.0));
}

}  // namespace
}  // namespace wattle
