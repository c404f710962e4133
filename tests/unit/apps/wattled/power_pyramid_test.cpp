// Sums of any number of slots.
#include "devices/power_pyramid.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace wattle::daemon {
namespace {

constexpr std::size_t kDay = 86'400;

PowerSummary slot_of(float watts) {
  return {.sum = watts, .known = 1.0F, .lowest = watts - 1.0F, .highest = watts + 1.0F};
}

std::size_t looks(const PowerPyramid& pyramid, std::uint64_t first, std::uint64_t last) {
  std::size_t count = 0;
  pyramid.visit(first, last, [&](const PowerSummary&) { ++count; });
  return count;
}

TEST(PowerPyramid, SumsLikeOneByOne) {
  constexpr std::size_t kKept = 700;
  std::minstd_rand random(1);
  PowerPyramid pyramid(kKept);
  std::vector<PowerSummary> slots;
  // Whole numbers: their sums are exact.
  std::uniform_int_distribution<int> watts(1, 300);
  for (int i = 0; i < 3000; ++i) {
    slots.push_back(watts(random) < 30 ? PowerSummary{}
                                       : slot_of(static_cast<float>(watts(random))));
    pyramid.push(slots.back());
    std::uniform_int_distribution<std::uint64_t> place(0, slots.size() + 5);
    const std::uint64_t first = place(random);
    const std::uint64_t last = place(random);
    PowerSummary expected;
    for (std::uint64_t k = std::max(first, pyramid.oldest()); k < std::min(last, pyramid.size());
         ++k) {
      expected.add(slots[static_cast<std::size_t>(k)]);
    }
    const PowerSummary sum = pyramid.sum(first, last);
    ASSERT_EQ(sum.sum, expected.sum) << first << " to " << last << " of " << slots.size();
    ASSERT_EQ(sum.known, expected.known);
    ASSERT_EQ(sum.lowest, expected.lowest);
    ASSERT_EQ(sum.highest, expected.highest);
  }
}

TEST(PowerPyramid, KeepsWhatItShould) {
  for (const std::size_t kept : {1U, 7U, 8U, 9U, 64U, 1000U}) {
    PowerPyramid pyramid(kept);
    for (std::size_t i = 0; i < 3 * kept + 10; ++i) pyramid.push(slot_of(2.0F));
    const std::uint64_t held = pyramid.size() - pyramid.oldest();
    EXPECT_GE(held, kept);
    EXPECT_LE(held, kept + 2);
    EXPECT_EQ(pyramid.sum(0, pyramid.size()).known, static_cast<float>(held));
  }
}

TEST(PowerPyramid, LooksAtFewPartsOfADay) {
  PowerPyramid pyramid(kDay);
  for (std::size_t i = 0; i < kDay; ++i) pyramid.push(slot_of(50.0F));
  // As the page of the daemon asks: 360 columns of 4 minutes.
  std::size_t of_page = 0;
  for (std::uint64_t column = 0; column < 360; ++column) {
    of_page += looks(pyramid, column * 240, (column + 1) * 240);
  }
  EXPECT_LE(of_page, 360U * 20U);
  EXPECT_LE(looks(pyramid, 1, kDay - 1), 2U * 7U * 6U);
  EXPECT_EQ(pyramid.sum(1, kDay - 1).known, static_cast<float>(kDay - 2));
}

}  // namespace
}  // namespace wattle::daemon
