#include "base/text/option_words.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

constexpr WordTable<int, 3> kNumbers = {{{"one", 1}, {"two", 2}, {"three", 3}}};

std::string error_of(std::string_view given) {
  try {
    (void)value_of_word("--number", given, kNumbers);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(OptionWords, HaveValues) { EXPECT_EQ(value_of_word("--number", "two", kNumbers), 2); }

TEST(OptionWords, AreListedWhereAnotherWordIsGiven) {
  EXPECT_EQ(error_of("four"), "--number takes one, two or three, not 'four'");
  EXPECT_EQ(error_of(""), "--number takes one, two or three, not ''");
  EXPECT_EQ(error_of("\x1b"), "--number takes one, two or three, not '\\x1b'");
}

TEST(OptionMessage, NamesTheMissingValue) {
  EXPECT_EQ(option_message("--interval: 1 required SECONDS missing"),
            "--interval needs a value: SECONDS");
}

TEST(OptionMessage, LeavesOthersAsTheyAre) {
  EXPECT_EQ(option_message("--a: 2 required X missing"), "--a: 2 required X missing");
  EXPECT_EQ(option_message("--a excludes --b"), "--a excludes --b");
}

}  // namespace
}  // namespace wattle
