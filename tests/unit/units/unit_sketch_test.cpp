#include "units/unit_sketch.hpp"

#include <gtest/gtest.h>

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

TEST(UnitSketch, CountsWhatIsAtMost) {
  UnitSketch sketch;
  for (const double joules : {-1.0, 0.5, 1.0, 2.0, 4.0}) sketch.add(joules);
  EXPECT_EQ(sketch.at_most(-1.0), 0U);
  EXPECT_EQ(sketch.at_most(0.0), 1U);
  EXPECT_EQ(sketch.at_most(1.0), 3U);  // a power of 2 is a bound
  EXPECT_EQ(sketch.at_most(100.0), 5U);
}

}  // namespace
}  // namespace wattle::detail
