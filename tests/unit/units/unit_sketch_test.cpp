#include "units/unit_sketch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "units/tag_figures.hpp"

namespace wattle::detail {
namespace {

TEST(UnitSketch, FindsQuantilesWithinABucket) {
  UnitSketch sketch;
  for (int i = 1; i <= 10'000; ++i) sketch.add(0.001 * i);
  EXPECT_EQ(sketch.count(), 10'000U);
  for (const double rank : {0.01, 0.5, 0.95, 0.99}) {
    EXPECT_NEAR(sketch.quantile(rank) / (10.0 * rank), 1.0, 0.012) << rank;
  }
}

TEST(UnitSketch, StaysWithinWhatWasAdded) {
  UnitSketch sketch;
  sketch.add(3.0);
  EXPECT_EQ(sketch.quantile(0.0), 3.0);
  EXPECT_EQ(sketch.quantile(1.0), 3.0);
}

TEST(UnitSketch, TakesWhatIsBeyondItsBounds) {
  UnitSketch sketch;
  for (const double joules : {-1.0, 0.0, 1e-30, 1e30}) sketch.add(joules);
  EXPECT_EQ(sketch.count(), 4U);
  EXPECT_LE(sketch.quantile(0.25), 0.0);
  EXPECT_EQ(sketch.quantile(1.0), 1e30);
}

TEST(UnitSketch, HasADistributionInBuckets) {
  UnitSketch sketch;
  for (const double joules : {-1.0, 0.0, 0.5, 1.0, 1.0, 1.01}) sketch.add(joules);
  const UnitDistribution found = sketch.distribution();
  EXPECT_EQ(found.none, 2U);
  ASSERT_EQ(found.counts.size(), 34U) << "an octave, and a bucket above it";
  EXPECT_EQ(found.counts.front(), 1U);
  EXPECT_EQ(found.counts[32], 2U) << "a power of 2 is the upper bound of its bucket";
  EXPECT_EQ(found.counts.back(), 1U);
  EXPECT_NEAR(found.from.si() * std::pow(found.ratio, 33), 1.0, 1e-9);
}

TEST(UnitSketch, JoinsBucketsOfAWideDistribution) {
  UnitSketch sketch;
  for (const double joules : {1e-30, 1.0, 3.0, 1e30}) sketch.add(joules);
  const UnitDistribution found = sketch.distribution();
  EXPECT_LE(found.counts.size(), 64U);
  EXPECT_EQ(std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0}), 4U);
  EXPECT_NEAR(found.ratio, 4.0, 1e-9);
  EXPECT_NEAR(std::log2(found.from.si()), -40.0, 1e-9) << "on a multiple of what it joins";
}

TEST(UnitGroups, TakeWhatIsBeyondTheirBoundsAndNothingThatIsNone) {
  UnitGroups groups;
  for (const double number : {0.0, -1.0, std::nan(""), HUGE_VAL, 1e-300, 1e300}) {
    groups.add(number, 2.0);
  }
  const std::vector<UnitGroup> found = groups.found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.front().number, 1e-300);
  EXPECT_EQ(found.back().number, 1e300);
  EXPECT_EQ(found.back().mean, Joules(2.0));
}

TEST(UnitSketch, HasNoDistributionOfNothing) {
  const UnitDistribution found = UnitSketch().distribution();
  EXPECT_EQ(found.none, 0U);
  EXPECT_TRUE(found.counts.empty());
}

}  // namespace
}  // namespace wattle::detail
