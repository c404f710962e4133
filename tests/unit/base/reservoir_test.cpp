#include "base/numbers/reservoir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Reservoir<int> filled(std::size_t capacity, int count) {
  Reservoir<int> reservoir(capacity);
  for (int i = 0; i < count; ++i) reservoir.add(i);
  return reservoir;
}

TEST(Reservoir, IsEmptyAtFirst) { EXPECT_THAT(filled(4, 0).sample(), IsEmpty()); }

TEST(Reservoir, KeepsEverythingWhileThereIsRoom) {
  EXPECT_THAT(sorted(filled(4, 3).sample()), ElementsAre(0, 1, 2));
  EXPECT_THAT(sorted(filled(4, 4).sample()), ElementsAre(0, 1, 2, 3));
}

TEST(Reservoir, CountsWhatItDoesNotKeep) {
  const Reservoir<int> reservoir = filled(4, 1000);
  EXPECT_EQ(reservoir.sample().size(), 4U);
  EXPECT_EQ(reservoir.seen(), 1000U);
}

TEST(Reservoir, FavoursNeitherTheFirstNorTheLast) {
  constexpr int kCount = 100'000;
  constexpr int kKept = 2000;
  const Reservoir<int> reservoir = filled(kKept, kCount);
  std::array<int, 10> tenths{};
  for (const int value : reservoir.sample())
    ++tenths.at(static_cast<std::size_t>(value) * 10 / kCount);
  // Each tenth has 200 of them, with a standard deviation of 13.
  for (const int count : tenths) EXPECT_NEAR(count, kKept / 10, 60);
}

TEST(Quantile, IsTheNearestRank) {
  const std::array values = {10, 20, 30, 40};
  const std::span<const int> all(values);
  EXPECT_EQ(quantile(all, 0.0), 10);
  EXPECT_EQ(quantile(all, 0.25), 10);
  EXPECT_EQ(quantile(all, 0.26), 20);
  EXPECT_EQ(quantile(all, 0.5), 20);
  EXPECT_EQ(quantile(all, 0.99), 40);
  EXPECT_EQ(quantile(all, 1.0), 40);
}

TEST(Quantile, OfNothingIsNothing) { EXPECT_EQ(quantile(std::span<const int>(), 0.5), 0); }

}  // namespace
}  // namespace wattle
