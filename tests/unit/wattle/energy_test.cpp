#include "wattle/energy.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(names(all), (std::vector<std::string_view>{
                            "wrapped", "reset", "ambiguous", "implausible", "short_window", "gap",
                            "lost", "late", "partial_coverage", "disagrees", "zero", "estimated",
                            "unaligned", "clock_stepped", "stuck"}));
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

}  // namespace
}  // namespace wattle
