#include "runs/log_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace wattle {
namespace {

TEST(PairedLogRatio, CancelsWhatBothRunsOfARoundShare) {
  // Both drift by a factor of 3; B is always 10 % above A, give or take a thousandth.
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 10; ++i) {
    a.push_back(100.0 + 20.0 * i);
    b.push_back(a.back() * 1.1 * (i % 2 == 0 ? 1.001 : 0.999));
  }
  const LogRatio ratio = paired_log_ratio({a}, {b});
  EXPECT_NEAR(change_of(ratio.estimate), 0.1, 0.001);
  EXPECT_TRUE(ratio.is_shown());
  EXPECT_GT(change_of(ratio.interval->low), 0.098);
  EXPECT_LT(change_of(ratio.interval->high), 0.102);
  EXPECT_FALSE(unpaired_log_ratio({a}, {b}).is_shown());
}

TEST(PairedLogRatio, OfOneRunHasNoInterval) {
  const std::vector a{1.0};
  const std::vector b{2.0};
  EXPECT_DOUBLE_EQ(change_of(paired_log_ratio({a}, {b}).estimate), 1.0);
  EXPECT_FALSE(paired_log_ratio({a}, {b}).interval);
  EXPECT_FALSE(unpaired_log_ratio({a}, {b}).interval);
}

TEST(PairedLogRatio, IsNotSurerThanItsMeasurements) {
  const std::vector<double> a(10, 100.0);
  const std::vector<double> b(10, 101.0);
  EXPECT_TRUE(paired_log_ratio({a}, {b}).is_shown());
  const std::vector<double> errors(10, 5.0);  // 5 % of each
  const LogRatio ratio = paired_log_ratio({a, errors}, {b, errors});
  EXPECT_TRUE(ratio.is_by_sampling);
  EXPECT_FALSE(ratio.is_shown());
  const double half = (ratio.interval->high - ratio.interval->low) / 2.0;
  EXPECT_NEAR(half, 2.0 * std::sqrt((0.05 * 0.05 + 5.0 / 101.0 * 5.0 / 101.0) / 10.0), 1e-9);
}

TEST(PairedLogRatio, CountsTheErrorOfAMeasurementOnce) {
  // The runs scatter by more than their errors, which are a part of that.
  const std::vector a{100.0, 110.0, 90.0, 105.0, 95.0};
  const std::vector b{130.0, 118.0, 109.0, 135.0, 112.0};
  const std::vector<double> errors(5, 0.5);
  EXPECT_DOUBLE_EQ(paired_log_ratio({a}, {b}).interval->low,
                   paired_log_ratio({a, errors}, {b, errors}).interval->low);
}

TEST(PairedLogRatio, IsTheSameInBothDirections) {
  const std::vector a{100.0, 110.0, 90.0, 105.0, 95.0, 300.0};
  const std::vector b{130.0, 118.0, 109.0, 135.0, 112.0, 121.0};
  const LogRatio forward = paired_log_ratio({a}, {b});
  const LogRatio backward = paired_log_ratio({b}, {a});
  EXPECT_NEAR(forward.estimate, -backward.estimate, 1e-12);
  EXPECT_NEAR(forward.interval->low, -backward.interval->high, 1e-12);
}

TEST(LogRatio, IsAsWideAsWhatComesBackInEachRunAndDoesNotCancel) {
  // A sensor takes 10 J of each run: a tenth of A's, a twentieth of B's. 100 runs do not lessen it.
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 100; ++i) {
    a.push_back(90.0 + (i % 2 == 0 ? 0.1 : -0.1));
    b.push_back(190.0 + (i % 2 == 0 ? -0.1 : 0.1));
  }
  const std::vector<double> errors(100, 0.1);
  const std::vector<double> common(100, -12.0);
  for (const auto& compare : {paired_log_ratio, unpaired_log_ratio}) {
    const LogRatio ratio = compare({a, errors, common}, {b, errors, common});
    EXPECT_TRUE(ratio.interval->contains(std::log(2.0)));
    EXPECT_NEAR(ratio.common, 12.0 / 90.0 - 12.0 / 190.0, 1e-9);
    EXPECT_FALSE(compare({a, errors}, {b, errors}).interval->contains(std::log(2.0)));
  }
}

TEST(LogRatio, IsNotWidenedByWhatComesBackInEachRunOfBoth) {
  const std::vector a{99.0, 101.0, 100.0};
  const std::vector<double> errors(3, 0.1);
  const std::vector<double> common(3, -12.0);
  const LogRatio ratio = unpaired_log_ratio({a, errors, common}, {a, errors, common});
  EXPECT_DOUBLE_EQ(ratio.common, 0.0);
  EXPECT_DOUBLE_EQ(ratio.interval->high, unpaired_log_ratio({a}, {a}).interval->high);
}

TEST(UnpairedLogRatio, IsWelchsOfTheMeans) {
  // Worked by hand: both have a standard deviation of a tenth of their mean, so that there are four
  // degrees of freedom.
  const std::vector a{90.0, 100.0, 110.0};
  const std::vector b{180.0, 200.0, 220.0};
  const LogRatio ratio = unpaired_log_ratio({a}, {b});
  EXPECT_NEAR(ratio.estimate, std::log(2.0), 1e-12);
  EXPECT_NEAR(ratio.interval->high, std::log(2.0) + 2.776445 * std::sqrt(2.0 * 0.01 / 3.0), 1e-6);
}

TEST(UnpairedLogRatio, IsOfTheMeansHoweverTheRunsAreSpread) {
  // One run in ten takes half as much again, and the mean is the same.
  std::vector<double> a(30, 100.0);
  std::vector<double> b(30, 100.0 / 1.05);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += i % 2 == 0 ? 0.5 : -0.5;
  for (std::size_t i = 0; i < b.size(); i += 10) b[i] *= 1.5;
  const LogRatio ratio = unpaired_log_ratio({a}, {b});
  EXPECT_NEAR(change_of(ratio.estimate), 0.0, 1e-6);
  EXPECT_FALSE(ratio.is_shown());
  EXPECT_EQ(ratio.outliers, 3U);
  EXPECT_EQ(ratio.outliers_of, 60U);
}

TEST(UnpairedLogRatio, OfEqualRunsIsExact) {
  const std::vector<double> a(3, 4096.0);
  const std::vector<double> b(3, 8192.0);
  const LogRatio ratio = unpaired_log_ratio({a}, {b});
  EXPECT_TRUE(ratio.is_shown());
  EXPECT_DOUBLE_EQ(ratio.interval->low, ratio.interval->high);
}

TEST(Resolution, SaysHowManyRunsWouldShowADifference) {
  // A standard error of 1 % of ten runs: at 95 % and 80 %, half of that takes four times as many
  // runs, roughly.
  const LogRatio ratio{.estimate = 0.001,
                       .interval = ConfidenceInterval{-0.023, 0.025},
                       .error = 0.01,
                       .runs = 10,
                       .outliers = 0,
                       .is_by_sampling = false};
  const auto resolution = resolution_of(ratio);
  ASSERT_TRUE(resolution);
  EXPECT_DOUBLE_EQ(resolution->change, 0.02);
  EXPECT_GE(resolution->more_runs, 10U);
  EXPECT_LE(resolution->more_runs, 20U);
}

TEST(Resolution, PromisesNothingThatMoreRunsDoNotLessen) {
  LogRatio ratio{.estimate = 0.0,
                 .interval = ConfidenceInterval{-0.05, 0.05},
                 .error = 0.001,
                 .runs = 10,
                 .common = 0.049};
  EXPECT_FALSE(resolution_of(ratio)) << "the interval cannot become as narrow as 5 %";
  ratio.common = 0.0;
  EXPECT_TRUE(resolution_of(ratio));
}

TEST(Resolution, IsAbsentWhereADifferenceIsShown) {
  const LogRatio shown{.estimate = 0.1,
                       .interval = ConfidenceInterval{0.08, 0.12},
                       .error = 0.01,
                       .runs = 10,
                       .outliers = 0,
                       .is_by_sampling = false};
  EXPECT_FALSE(resolution_of(shown));

  // Twice as much is a logarithm of 0.69.
  const LogRatio coarse{.estimate = 0.0,
                        .interval = ConfidenceInterval{-0.6, 0.6},
                        .error = 0.3,
                        .runs = 20,
                        .outliers = 0,
                        .is_by_sampling = false};
  ASSERT_TRUE(resolution_of(coarse));
  EXPECT_DOUBLE_EQ(resolution_of(coarse)->change, 1.0);
  EXPECT_GE(resolution_of(coarse)->more_runs, 1U);
  EXPECT_FALSE(resolution_of({}));
}

}  // namespace
}  // namespace wattle
