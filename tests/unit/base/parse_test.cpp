#include "base/text/parse.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace wattle {
namespace {

using namespace std::string_view_literals;

TEST(ParseUnsigned, TakesWholeNumbersUpToTheTypesLargest) {
  EXPECT_EQ(parse_unsigned<std::uint32_t>("0"), 0U);
  EXPECT_EQ(parse_unsigned<std::uint32_t>("4294967295"), UINT32_MAX);
  EXPECT_EQ(parse_unsigned<std::uint64_t>("18446744073709551615"), UINT64_MAX);
}

TEST(ParseUnsigned, TakesDigitsOfAnotherBase) {
  EXPECT_EQ(parse_unsigned<std::uint32_t>("fF", 16), 255U);
  EXPECT_EQ(parse_unsigned<std::uint32_t>("0xff", 16), std::nullopt);
  EXPECT_EQ(parse_unsigned<std::uint32_t>("", 16), std::nullopt);
}

TEST(NumbersAfter, TakeTheLinesOfTheirKeys) {
  EXPECT_EQ((numbers_after<std::uint64_t, 2>({"a:", "c:"}, "a: 1 kB\nb: 2\nc:\t3", 3)),
            (std::array<std::uint64_t, 2>{1, 3}));
}

TEST(NumbersAfter, AreAbsentWhereOneIs) {
  EXPECT_EQ((numbers_after<int, 2>({"a:", "c:"}, "a: 1\nb: 2", 9)), std::nullopt);
  EXPECT_EQ((numbers_after<int, 1>({"a:"}, "a: x", 9)), std::nullopt);
  EXPECT_EQ((numbers_after<int, 1>({"a:"}, "a: 10", 9)), std::nullopt);
}

TEST(ParseUnsigned, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_unsigned<std::uint32_t>("4294967296"), std::nullopt);
  EXPECT_EQ(parse_unsigned<std::uint64_t>("18446744073709551616"), std::nullopt);
}

TEST(ParseUnsigned, RefusesAnythingButDigits) {
  for (const std::string_view text : {""sv, " 1"sv, "1 "sv, "-1"sv, "+1"sv, "0x10"sv, "1e3"sv,
                                      "1.0"sv, "1\0"sv, "12a"sv, "\xd9\xa1"sv /* Arabic 1 */}) {
    EXPECT_EQ(parse_unsigned<std::uint64_t>(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(ParseCounter, TakesANumberWithBlanksAroundIt) {
  EXPECT_EQ(parse_counter("262143328850\n"), 262143328850U);
  EXPECT_EQ(parse_counter(" \t7\r\n"), 7U);
  EXPECT_EQ(parse_counter("00000000000000000042\n"), 42U);
}

TEST(ParseCounter, RefusesEverythingElse) {
  for (const std::string_view text : {""sv, "\n"sv, "1 2"sv, "-5\n"sv, "nan"sv, "1\n2\n"sv,
                                      "99999999999999999999\n"sv, "1\0\n"sv}) {
    EXPECT_EQ(parse_counter(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(ParseDouble, TakesFiniteDecimalNumbers) {
  EXPECT_EQ(parse_double("0.1"), 0.1);
  EXPECT_EQ(parse_double("-2"), -2.0);
  EXPECT_EQ(parse_double("1e-3"), 0.001);
}

TEST(ParseDouble, RefusesEverythingElse) {
  for (const std::string_view text :
       {""sv, " 1"sv, "1 "sv, "1,5"sv, "0.1s"sv, "nan"sv, "inf"sv, "-inf"sv, "1e999"sv, "."sv}) {
    EXPECT_EQ(parse_double(text), std::nullopt) << "'" << text << "'";
  }
}

}  // namespace
}  // namespace wattle
