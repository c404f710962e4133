#include "wattle/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

namespace wattle {
namespace {

std::vector<std::string_view> names(const Flags& flags) {
  std::vector<std::string_view> names;
  flags.each([&](std::string_view name) { names.push_back(name); });
  return names;
}

TEST(Flags, AreNoneAtFirst) { EXPECT_TRUE(names(Flags()).empty()); }

TEST(Flags, HaveTheNamesOfTheDesign) {
  Flags all;
  for (std::size_t i = 0; i < kFlagNames.size(); ++i) all.set(static_cast<Flag>(i));
  EXPECT_EQ(names(all),
            (std::vector<std::string_view>{
                "wrapped", "reset", "ambiguous", "implausible", "short_window", "gap", "lost",
                "late", "partial_coverage", "disagrees", "zero", "estimated", "unaligned",
                "clock_stepped", "stuck", "coverage_unknown", "in_step", "ends_unseen"}));
}

TEST(Flags, EachHaveTheirOwnName) {
  const auto name_of = [](Flag flag) {
    Flags one;
    one.set(flag);
    return names(one);
  };
  EXPECT_EQ(name_of(Flag::wrapped), std::vector<std::string_view>{"wrapped"});
  EXPECT_EQ(name_of(Flag::gap), std::vector<std::string_view>{"gap"});
  EXPECT_EQ(name_of(Flag::partial_coverage), std::vector<std::string_view>{"partial_coverage"});
  EXPECT_EQ(name_of(Flag::estimated), std::vector<std::string_view>{"estimated"});
}

TEST(Flags, AreJoined) {
  Flags some;
  some.set(Flag::zero);
  Flags others;
  others.set(Flag::reset);
  some |= others;
  EXPECT_TRUE(some.has(Flag::zero) && some.has(Flag::reset));
  EXPECT_FALSE(some.has(Flag::gap));
}

TEST(UncertaintySum, AddsWhatIsIndependentInSquares) {
  UncertaintySum sum;
  sum.add(Joules(3.0), Joules());
  sum.add(Joules(4.0), Joules());
  EXPECT_EQ(sum.uncertainty(), Joules(5.0));
  EXPECT_EQ(sum.common(), Joules());
}

TEST(UncertaintySum, AddsWhatComesBackWithItsSign) {
  UncertaintySum equal;
  UncertaintySum mixed;
  for (int i = 0; i < 4; ++i) {
    equal.add(Joules(5.0), Joules(-4.0));
    mixed.add(Joules(5.0), Joules(i % 2 == 0 ? 4.0 : -4.0));
  }
  EXPECT_EQ(equal.common(), Joules(-16.0));
  EXPECT_DOUBLE_EQ(equal.uncertainty().si(), std::sqrt(4.0 * 9.0 + 256.0));
  EXPECT_DOUBLE_EQ(mixed.uncertainty().si(), 6.0) << "what one lacks the next one has";
}

TEST(UncertaintySum, SubtractsWhatADifferenceHasInCommon) {
  UncertaintySum difference;
  difference.add(Joules(5.0), Joules(4.0));
  difference.subtract(Joules(5.0), Joules(4.0));
  EXPECT_EQ(difference.common(), Joules());
  EXPECT_DOUBLE_EQ(difference.uncertainty().si(), std::sqrt(18.0));
}

TEST(UncertaintySum, BelievesNoPartThatIsLargerThanTheWhole) {
  UncertaintySum sum;
  sum.add(Joules(2.0), Joules(-1e300));
  EXPECT_EQ(sum.uncertainty(), Joules(2.0));
  EXPECT_EQ(sum.common(), Joules(-2.0));
}

}  // namespace
}  // namespace wattle
