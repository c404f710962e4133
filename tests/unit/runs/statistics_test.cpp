#include "runs/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace wattle {
namespace {

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

TEST(Statistics, DoNotTakeAMeanForSurerThanItsMeasurements) {
  const std::vector values{63.0, 63.1, 62.9, 63.0};
  const std::vector uncertainties{3.2, 3.2, 3.2, 3.2};
  const Summary summary = summarize(values, uncertainties);
  EXPECT_LT(summary.mean95->low, 63.0 - 3.2);
  EXPECT_GT(summary.mean95->high, 63.0 + 3.2);
}

TEST(Kinds, AreTwoWhereNothingIsBetween) {
  const std::vector values{1.00, 1.31, 1.01, 0.99, 1.30, 1.32, 1.00, 1.01};
  const auto kinds = two_kinds_of(values);
  ASSERT_TRUE(kinds);
  EXPECT_NEAR(kinds->low, 1.0, 0.01);
  EXPECT_NEAR(kinds->high, 1.31, 0.01);
  EXPECT_EQ(kinds->low_count, 5U);
  EXPECT_EQ(kinds->high_count, 3U);
  EXPECT_FALSE(two_kinds_of(std::vector{1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7}));
  EXPECT_FALSE(two_kinds_of(std::vector{1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}));
  EXPECT_FALSE(two_kinds_of(std::vector{1.0, 1.31, 1.01, 0.99, 1.3})) << "too few";
  EXPECT_FALSE(two_kinds_of(std::vector<double>(8, 0.0)));
}

TEST(Kinds, OfLessThanAPartMayBeMissing) {
  EXPECT_NEAR(unseen_part(5), 0.451, 0.001);
  EXPECT_NEAR(unseen_part(30), 0.095, 0.001);
}

TEST(Echo, IsTheCorrelationWithTheRunBefore) {
  std::vector<double> slow;
  std::vector<double> quick;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(1.0 + 0.1 * std::sin(0.3 * i));
    quick.push_back(1.0 + 0.1 * (i % 2 == 0 ? 1.0 : -1.0));
  }
  ASSERT_TRUE(echo_of(slow));
  EXPECT_GT(*echo_of(slow), 0.8);
  EXPECT_FALSE(echo_of(quick));
  EXPECT_FALSE(echo_of(std::vector<double>(40, 1.0)));
  EXPECT_FALSE(echo_of(std::vector<double>(4999, 0.001234))) << "nothing but a rounding";
  slow.resize(9);
  EXPECT_FALSE(echo_of(slow));
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
  rising.resize(5);
  EXPECT_FALSE(drift_of(rising));
  EXPECT_TRUE(drift_of(rising, rising)) << "both together show it";
}

TEST(Drift, IsFoundInAFewOfVeryManyRuns) {
  std::vector<double> rising;
  for (int i = 0; i < 200'000; ++i) rising.push_back(1.0 + 1e-6 * i);
  ASSERT_TRUE(drift_of(rising));
  EXPECT_NEAR(*drift_of(rising), 0.2, 0.01);
}

TEST(Kinds, AreFoundInVeryManyRuns) {
  std::vector<double> values;
  for (int i = 0; i < 200'000; ++i) values.push_back(i % 4 == 0 ? 1.3 : 1.0);
  ASSERT_TRUE(two_kinds_of(values));
  EXPECT_EQ(two_kinds_of(values)->high_count, 50'000U);
}

}  // namespace
}  // namespace wattle
