#include "runs/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace wattle {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Statistics, SummarizesRuns) {
  const Summary summary = summarize(std::vector{4.0, 1.0, 3.0, 2.0});
  EXPECT_EQ(summary.count, 4U);
  EXPECT_DOUBLE_EQ(summary.mean, 2.5);
  EXPECT_NEAR(*summary.sd, 1.290994, 1e-6);
  EXPECT_DOUBLE_EQ(summary.median, 2.5);
  EXPECT_DOUBLE_EQ(summary.min, 1.0);
  EXPECT_DOUBLE_EQ(summary.max, 4.0);
  // t(3) = 3.182446, as printed in tables.
  EXPECT_NEAR(summary.mean95->high, 2.5 + 3.182446 * 1.290994 / 2.0, 1e-5);
}

TEST(Statistics, OfOneRunHaveNoSpread) {
  const Summary summary = summarize(std::vector{4.0});
  EXPECT_DOUBLE_EQ(summary.mean, 4.0);
  EXPECT_FALSE(summary.sd);
  EXPECT_FALSE(summary.mean95);
}

TEST(Statistics, HaveStudentsQuantiles) {
  // Abramowitz and Stegun, table 26.10.
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.7764, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 9), 2.2622, 1e-4);
  EXPECT_NEAR(student_quantile(0.995, 9), 3.2498, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.95997, 1e-4);
  EXPECT_NEAR(student_quantile(0.5, 3), 0.0, 1e-9);
}

TEST(RobustMean, IsThePlainMeanOfFewValues) {
  const RobustMean mean = robust_mean(std::vector{1.0, 2.0, 6.0});
  EXPECT_DOUBLE_EQ(mean.location, 3.0);
  EXPECT_NEAR(mean.standard_error, std::sqrt(7.0 / 3.0), 1e-12);
  EXPECT_EQ(mean.outliers, 0U);
}

TEST(RobustMean, IsNotMovedByAnOutlier) {
  const std::vector quiet{1.00, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.00, 1.01};
  std::vector disturbed = quiet;
  disturbed.push_back(50.0);
  const RobustMean mean = robust_mean(disturbed);
  EXPECT_THAT(mean.location, DoubleNear(robust_mean(quiet).location, 0.002));
  EXPECT_LT(mean.standard_error, 0.02);
  EXPECT_EQ(mean.outliers, 1U);
}

TEST(RobustMean, IsThePlainMeanWhereHalfOfTheValuesAreEqual) {
  const RobustMean mean = robust_mean(std::vector{1.0, 1.0, 1.0, 1.0, 2.0});
  EXPECT_DOUBLE_EQ(mean.location, 1.2);
  EXPECT_GT(mean.standard_error, 0.0);
}

TEST(RobustMean, ShiftsAndScalesWithItsValues) {
  const std::vector values{3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0};
  std::vector<double> moved;
  for (const double value : values) moved.push_back(10.0 * value - 7.0);
  const RobustMean mean = robust_mean(values);
  const RobustMean of_moved = robust_mean(moved);
  EXPECT_NEAR(of_moved.location, 10.0 * mean.location - 7.0, 1e-9);
  EXPECT_NEAR(of_moved.standard_error, 10.0 * mean.standard_error, 1e-9);
}

TEST(Outliers, AreFarFromAllOthers) {
  EXPECT_THAT(outliers_of(std::vector{9.0, 1.0, 1.01, 0.99, 1.0, 1.02}), ElementsAre(0U));
  EXPECT_THAT(outliers_of(std::vector{1.03, 1.0, 1.01, 0.99, 1.0, 1.02}), IsEmpty());
  // Equal values and one that differs by less than 1 %.
  EXPECT_THAT(outliers_of(std::vector{1.0, 1.0, 1.0, 1.0, 1.005}), IsEmpty());
  EXPECT_THAT(outliers_of(std::vector{1.0, 9.0}), IsEmpty());
}

TEST(Drift, IsFoundInTheOrderOfTheRuns) {
  std::vector<double> rising;
  std::vector<double> steady;
  for (int i = 0; i < 12; ++i) {
    const double noise = i % 2 == 0 ? 0.002 : -0.002;
    rising.push_back(1.0 + 0.01 * i + noise);
    steady.push_back(1.0 + 5.0 * noise);
  }
  ASSERT_TRUE(drift_of(rising));
  EXPECT_NEAR(*drift_of(rising), 0.11 / 1.055, 0.01);
  EXPECT_FALSE(drift_of(steady));
  rising.front() = 0.0;
  EXPECT_FALSE(drift_of(rising)) << "there is no ratio to nothing";
  rising.front() = 1.0;
  rising.resize(9);
  EXPECT_FALSE(drift_of(rising));
}

}  // namespace
}  // namespace wattle
