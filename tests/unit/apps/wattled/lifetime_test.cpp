#include "serve/lifetime.hpp"

#include <gtest/gtest.h>

namespace wattle::daemon {
namespace {

constexpr std::int64_t kDay = 86'400;

TEST(Lifetime, IsGivenInTheUnitsOfZeusd) {
  EXPECT_EQ(parse_lifetime("90s"), 90);
  EXPECT_EQ(parse_lifetime("5min"), 300);
  EXPECT_EQ(parse_lifetime("1hr"), 3600);
  EXPECT_EQ(parse_lifetime("7d"), 7 * kDay);
  EXPECT_EQ(parse_lifetime("30days"), 30 * kDay);
  EXPECT_EQ(parse_lifetime("2weeks"), 14 * kDay);
  EXPECT_EQ(parse_lifetime("1y"), 31'557'600);
  EXPECT_EQ(parse_lifetime("12months"), parse_lifetime("1year"));
}

TEST(Lifetime, IsASumOfParts) {
  EXPECT_EQ(parse_lifetime("1h 30m"), 5400);
  EXPECT_EQ(parse_lifetime("1day2hours"), kDay + 7200);
}

TEST(Lifetime, OfAMinuteIsNotThatOfAMonth) {
  EXPECT_EQ(parse_lifetime("1m"), 60);
  EXPECT_EQ(parse_lifetime("1M"), 2'629'800);
}

TEST(Lifetime, WithoutEndIsZero) {
  EXPECT_EQ(parse_lifetime("never"), 0);
  EXPECT_EQ(parse_lifetime("0"), 0);
}

TEST(Lifetime, IsAbsentForWhatIsNoLengthOfTime) {
  for (const char* text : {"", " ", "soon", "7", "d", "7 d", "-7d", "1.5h", "0s", "7parsecs",
                           "1001y", "99999999999s"}) {
    EXPECT_EQ(parse_lifetime(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace wattle::daemon
