#include "base/numbers/regression.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/numbers/student.hpp"

namespace wattle {
namespace {

NormalSums sums_of(double gain0, double gain1, double offset) {
  NormalSums sums(2);
  for (int i = 0; i < 50; ++i) {
    const std::array x = {std::sin(i * 0.7) * 1000.0, static_cast<double>(i % 7)};
    sums.add(x, offset + gain0 * x[0] + gain1 * x[1]);
  }
  return sums;
}

TEST(Regression, FindsGainsAndOffsetOfAnySize) {
  const LinearFit fit = fitted(sums_of(0.001, 2.0, 60.0), GainSign::any);
  EXPECT_NEAR(fit.gains[0], 0.001, 1e-8);
  EXPECT_NEAR(fit.gains[1], 2.0, 1e-6);
  EXPECT_NEAR(fit.offset, 60.0, 1e-5);
  EXPECT_NEAR(fit.residual, 0.0, 1e-3);
}

TEST(Regression, GivesNoNegativeGainIfItMayNot) {
  EXPECT_LT(fitted(sums_of(0.5, -2.0, 0.0), GainSign::any).gains[1], -1.9);
  const LinearFit fit = fitted(sums_of(0.5, -2.0, 0.0), GainSign::not_negative);
  EXPECT_DOUBLE_EQ(fit.gains[1], 0.0);
  EXPECT_NEAR(fit.gains[0], 0.5, 0.01);
}

TEST(Regression, LeavesAColumnThatDoesNotVaryAlone) {
  NormalSums sums(2);
  for (int i = 0; i < 20; ++i) sums.add(std::array{static_cast<double>(i), 5.0}, 3.0 * i);
  const LinearFit fit = fitted(sums, GainSign::any);
  EXPECT_NEAR(fit.gains[0], 3.0, 1e-6);
  EXPECT_DOUBLE_EQ(fit.gains[1], 0.0);
  EXPECT_DOUBLE_EQ(own_part(sums)[1], 0.0);
}

TEST(Regression, ShowsWhichColumnsChangeTogether) {
  NormalSums sums(3);
  for (int i = 0; i < 40; ++i) {
    const double x = std::sin(i * 0.9);
    sums.add(std::array{x, 2.0 * x, std::cos(i * 2.3)}, x);
  }
  const auto parts = own_part(sums);
  EXPECT_LT(parts[0], 1e-6);
  EXPECT_LT(parts[1], 1e-6);
  EXPECT_GT(parts[2], 0.9);
}

TEST(Regression, TakesColumnsAndBlocksOut) {
  NormalSums all = sums_of(0.5, 2.0, 1.0);
  const NormalSums more = sums_of(7.0, 7.0, 7.0);
  all += more;
  all -= more;
  EXPECT_NEAR(fitted(all, GainSign::any).gains[1], 2.0, 1e-5);
  EXPECT_EQ(all.without(0).columns(), 1U);
  EXPECT_DOUBLE_EQ(all.without(0).xx(0, 0), all.xx(1, 1));
  EXPECT_DOUBLE_EQ(all.without(1).xy(0), all.xy(0));
}

TEST(Regression, KnowsTheErrorOfAMean) {
  // Values of a mean without each of 4 numbers 1, 2, 3, 4: its standard error is 0.6455.
  const std::array without = {3.0, 8.0 / 3.0, 7.0 / 3.0, 2.0};
  EXPECT_NEAR(jackknife_error(without), 0.6455, 1e-4);
  EXPECT_NEAR(student_critical(3), 3.182, 1e-3);
}

}  // namespace
}  // namespace wattle
