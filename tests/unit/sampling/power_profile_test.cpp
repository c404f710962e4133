#include "sampling/power_profile.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace wattle {
namespace {

using Means = std::vector<std::optional<Watts>>;

PowerProfile profile_of(std::size_t bins, const Means& powers) {
  PowerProfile profile(bins);
  for (const auto& power : powers) profile.add(power);
  return profile;
}

TEST(PowerProfile, IsEmptyAtFirst) { EXPECT_EQ(PowerProfile(4).means(), Means{}); }

TEST(PowerProfile, KeepsIntervalsWhileThereIsRoom) {
  EXPECT_EQ(profile_of(4, {Watts(1.0), Watts(2.0), Watts(3.0)}).means(),
            (Means{Watts(1.0), Watts(2.0), Watts(3.0)}));
}

TEST(PowerProfile, JoinsNeighboursWhenItIsFull) {
  const Means five = {Watts(1.0), Watts(3.0), Watts(5.0), Watts(7.0), Watts(9.0)};
  EXPECT_EQ(profile_of(4, five).means(), (Means{Watts(2.0), Watts(6.0), Watts(9.0)}));
}

TEST(PowerProfile, GoesOnWithWiderBins) {
  const Means seven = {Watts(1.0), Watts(3.0),  Watts(5.0), Watts(7.0),
                       Watts(9.0), Watts(11.0), Watts(13.0)};
  EXPECT_EQ(profile_of(4, seven).means(),
            (Means{Watts(2.0), Watts(6.0), Watts(10.0), Watts(13.0)}));
}

TEST(PowerProfile, StaysWithinItsBinsHoweverLongItLasts) {
  PowerProfile profile(48);
  for (int i = 0; i < 100'000; ++i) {
    profile.add(Watts(static_cast<double>(i)));
    ASSERT_LE(profile.means().size(), 48U);
    ASSERT_GE(profile.means().size(), i < 48 ? 1U : 24U);
  }
  const Means means = profile.means();
  for (std::size_t i = 1; i < means.size(); ++i) {
    EXPECT_GT(means[i], means[i - 1]) << "the order is kept";
  }
}

TEST(PowerProfile, LeavesUnknownIntervalsOutOfTheMeans) {
  const Means powers = {Watts(1.0), std::nullopt, std::nullopt, std::nullopt, Watts(5.0)};
  EXPECT_EQ(profile_of(4, powers).means(), (Means{Watts(1.0), std::nullopt, Watts(5.0)}));
}

TEST(PowerProfile, KeepsUnknownIntervalsInTheirPlaces) {
  EXPECT_EQ(profile_of(4, {std::nullopt, Watts(2.0)}).means(), (Means{std::nullopt, Watts(2.0)}));
}

}  // namespace
}  // namespace wattle
