#include "usage/tree/memory_sum.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

constexpr std::uint64_t kGB = 1'000'000'000;
constexpr std::uint64_t kMB = 1'000'000;

TEST(MemorySum, IsExactWhereEachProportionIsKnown) {
  MemorySum sum;
  sum.add(ProportionalMemory{.rss_bytes = 100, .pss_bytes = 60, .private_bytes = 50});
  sum.add(ProportionalMemory{.rss_bytes = 100, .pss_bytes = 70, .private_bytes = 50});
  const MemoryBounds bounds = sum.bounds(MappedMemory{});
  EXPECT_EQ(bounds.total_bytes, 130U);
  EXPECT_EQ(bounds.private_bytes, 100U);
  EXPECT_FALSE(bounds.are_upper);
}

TEST(MemorySum, IsNoMoreThanTheMachineHas) {
  MemorySum sum;
  for (int i = 0; i < 4; ++i) {
    sum.add_without_pss({.rss_bytes = 4620 * kMB, .shared_bytes = 10 * kMB});
  }
  const MemoryBounds bounds =
      sum.bounds(MappedMemory{.anonymous_bytes = 4630 * kMB, .file_bytes = 15 * kMB});
  EXPECT_EQ(bounds.total_bytes, 4645 * kMB) << "not 18.5 GB";
  EXPECT_TRUE(bounds.are_upper);
}

TEST(MemorySum, IsNoMoreThanTheMemoryOfTheMachine) {
  MemorySum sum;
  sum.add(ProportionalMemory{.rss_bytes = kGB, .pss_bytes = kGB, .private_bytes = kGB});
  for (int i = 0; i < 4; ++i) {
    sum.add_without_pss({.rss_bytes = 4620 * kMB, .shared_bytes = 10 * kMB});
  }
  const MemoryBounds bounds = sum.bounds(
      MappedMemory{.anonymous_bytes = 8 * kGB, .file_bytes = 8 * kGB, .machine_bytes = 8 * kGB});
  EXPECT_EQ(bounds.total_bytes, 8 * kGB);
  EXPECT_LE(bounds.private_bytes, 8 * kGB);
}

TEST(MemorySum, DoesNotCountPagesOfAForkAsPrivate) {
  MemorySum sum;
  // Four processes of one fork: 4.61 GB in common, 5 MB of the first one alone.
  sum.add_without_pss({.rss_bytes = 4615 * kMB, .shared_bytes = 0});
  for (int i = 0; i < 3; ++i) sum.add_without_pss({.rss_bytes = 4610 * kMB, .shared_bytes = 0});
  const MemoryBounds alone = sum.bounds(MappedMemory{.anonymous_bytes = 4615 * kMB});
  EXPECT_NEAR(static_cast<double>(alone.private_bytes), 5e6, 1.0) << "exact where nobody else is";
  const MemoryBounds beside = sum.bounds(MappedMemory{.anonymous_bytes = 5 * kGB});
  EXPECT_GE(beside.private_bytes, 5 * kMB);
  EXPECT_LE(beside.private_bytes, 600 * kMB) << "not 18.4 GB";
}

TEST(MemorySum, IsThatOfResidentSetsWhereNothingElseIsKnown) {
  MemorySum sum;
  sum.add_without_pss({.rss_bytes = 100, .shared_bytes = 30});
  sum.add_without_pss({.rss_bytes = 200, .shared_bytes = 30});
  for (const auto& machine :
       {std::optional<MappedMemory>(),
        std::optional(MappedMemory{.anonymous_bytes = kGB, .file_bytes = kGB})}) {
    const MemoryBounds bounds = sum.bounds(machine);
    EXPECT_EQ(bounds.total_bytes, 300U);
    EXPECT_EQ(bounds.private_bytes, 240U);
    EXPECT_TRUE(bounds.are_upper);
  }
}

TEST(MemorySum, HoldsWhateverIsSharedWithinTheGroup) {
  // Pages that 1, 2 and 3 of three processes have; each count of them, in steps.
  for (std::uint64_t one = 0; one <= 6; ++one) {
    for (std::uint64_t two = 0; two <= 6; ++two) {
      for (std::uint64_t three = 0; three <= 6; ++three) {
        MemorySum sum;
        sum.add_without_pss({.rss_bytes = 3 * one + two + three, .shared_bytes = 0});
        sum.add_without_pss({.rss_bytes = two + three, .shared_bytes = 0});
        sum.add_without_pss({.rss_bytes = three, .shared_bytes = 0});
        const std::uint64_t all = 3 * one + two + three;
        const MemoryBounds bounds = sum.bounds(MappedMemory{.anonymous_bytes = all});
        EXPECT_GE(bounds.total_bytes, all);
        EXPECT_GE(bounds.private_bytes, 3 * one) << one << " " << two << " " << three;
      }
    }
  }
}

}  // namespace
}  // namespace wattle
