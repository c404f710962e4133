#include "sampling/interval_power.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

TEST(IntervalPower, IsAbsentBeforeTheFirstInterval) {
  const IntervalPower power;
  EXPECT_EQ(power.last(), std::nullopt);
  EXPECT_EQ(power.max(), std::nullopt);
}

TEST(IntervalPower, HasNoMaxUnderTwoIntervals) {
  IntervalPower power;
  power.add(Watts(50.0));
  EXPECT_EQ(power.last(), Watts(50.0));
  EXPECT_EQ(power.max(), std::nullopt);
  power.add(Watts(40.0));
  EXPECT_EQ(power.last(), Watts(40.0));
  EXPECT_EQ(power.max(), Watts(50.0));
}

TEST(IntervalPower, CountsIntervalsWhosePowerIsNotKnown) {
  IntervalPower power;
  power.add(Watts(50.0));
  power.add(std::nullopt);
  EXPECT_EQ(power.last(), std::nullopt);
  EXPECT_EQ(power.max(), Watts(50.0));
}

TEST(IntervalPower, HasNoMaxWhereNothingIsKnown) {
  IntervalPower power;
  power.add(std::nullopt);
  power.add(std::nullopt);
  EXPECT_EQ(power.max(), std::nullopt);
}

}  // namespace
}  // namespace wattle
