#include "calibration/power_curve.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

TEST(PowerCurve, GivesTheMeanBetweenTwoTimes) {
  const PowerCurve curve({{0.0, 1.0, 10.0}, {1.0, 2.0, 30.0}});
  EXPECT_DOUBLE_EQ(curve.mean_w(0.5, 1.5).value_or(0.0), 20.0);
  EXPECT_DOUBLE_EQ(curve.mean_w(0.0, 2.0).value_or(0.0), 20.0);
  EXPECT_DOUBLE_EQ(curve.mean_w(1.2, 1.2).value_or(0.0), 30.0);
  EXPECT_DOUBLE_EQ(curve.energy_j(), 40.0);
}

TEST(PowerCurve, KnowsNothingOfAGap) {
  const PowerCurve curve({{0.0, 1.0, 10.0}, {2.0, 3.0, 30.0}});
  EXPECT_FALSE(curve.mean_w(0.5, 2.5));
  EXPECT_FALSE(curve.mean_w(1.5, 1.5));
  EXPECT_FALSE(curve.mean_w(-1.0, 0.5));
  EXPECT_FALSE(curve.mean_w(2.5, 3.5));
  EXPECT_DOUBLE_EQ(curve.known_s(), 2.0);
}

TEST(PowerCurve, OrdersStepsAndLetsNoneOverlap) {
  const PowerCurve curve({{1.0, 2.0, 30.0}, {0.0, 1.5, 10.0}, {3.0, 3.0, 99.0}});
  ASSERT_EQ(curve.steps().size(), 2U);
  EXPECT_DOUBLE_EQ(curve.energy_j(), 30.0);
}

TEST(PowerCurve, FindsStepsOfAnyLength) {
  std::vector<PowerStep> steps;
  for (int i = 0; i < 100; ++i) {
    steps.push_back({0.001 * i, 0.001 * (i + 1), 5.0});
  }
  steps.push_back({100.0, 200.0, 7.0});
  const PowerCurve curve(std::move(steps));
  EXPECT_DOUBLE_EQ(curve.mean_w(150.0, 150.0).value_or(0.0), 7.0);
  EXPECT_DOUBLE_EQ(curve.mean_w(0.0501, 0.0501).value_or(0.0), 5.0);
}

TEST(PowerCurve, OfNothingIsUnknown) { EXPECT_FALSE(PowerCurve().mean_w(0.0, 1.0)); }

TEST(PowerCurve, MovesInTime) {
  const PowerCurve curve = PowerCurve({{10.0, 11.0, 10.0}, {11.0, 12.0, 30.0}}).earlier(1.5);
  EXPECT_DOUBLE_EQ(curve.begin_s(), 8.5);
  EXPECT_DOUBLE_EQ(curve.mean_w(9.0, 10.0).value_or(0.0), 20.0);
}

TEST(FilteredPower, IsThatOfAFilterOfFirstOrder) {
  constexpr double kLag = 0.7;
  const PowerCurve curve({{0.0, 5.0, 100.0}, {5.0, 6.0, 300.0}, {6.0, 9.0, 50.0}});
  const FilteredPower filtered(curve, kLag);
  // The same by small steps of time.
  constexpr double kTick = 1e-5;
  double now_w = 100.0;
  double sum_ws = 0.0;
  for (int i = 0; i < 700'000; ++i) {
    const double power_w = curve.mean_w((i + 0.5) * kTick, (i + 0.5) * kTick).value_or(0.0);
    now_w += (power_w - now_w) * kTick / kLag;
    if (i >= 550'000) sum_ws += now_w * kTick;
  }
  EXPECT_NEAR(filtered.mean_w(5.5, 7.0).value_or(0.0), sum_ws / 1.5, 0.01);
}

TEST(FilteredPower, IsUnknownWhereTheFilterStillShowsAnUnknownTime) {
  const PowerCurve curve({{0.0, 5.0, 100.0}, {6.0, 12.0, 300.0}});
  const FilteredPower filtered(curve, 1.0);
  EXPECT_FALSE(filtered.mean_w(0.5, 1.0));
  EXPECT_FALSE(filtered.mean_w(6.5, 7.0));
  EXPECT_TRUE(filtered.mean_w(10.0, 11.0));
}

}  // namespace
}  // namespace wattle
