#include "base/text/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TakeLine, GivesLineAfterLine) {
  std::string_view text = "one\n\nthree";
  EXPECT_EQ(take_line(text), "one");
  EXPECT_EQ(take_line(text), "");
  EXPECT_EQ(take_line(text), "three");
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(take_line(text), "");
}

TEST(TakeLine, LeavesNothingAfterALastLineEnd) {
  std::string_view text = "one\n";
  EXPECT_EQ(take_line(text), "one");
  EXPECT_TRUE(text.empty());
}

TEST(TakeWord, GivesWordAfterWord) {
  std::string_view text = "  cpu \t12\r";
  EXPECT_EQ(take_word(text), "cpu");
  EXPECT_EQ(take_word(text), "12");
  EXPECT_EQ(take_word(text), "");
  EXPECT_EQ(take_word(text), "");
}

TEST(TakeUntil, TakesTheSeparatorToo) {
  std::string_view text = "a,,b";
  EXPECT_EQ(take_until(text, ','), "a");
  EXPECT_EQ(take_until(text, ','), "");
  EXPECT_EQ(take_until(text, ','), "b");
  EXPECT_EQ(text, "");
  EXPECT_EQ(take_until(text, ','), "");
}

TEST(TakeKey, LeavesTheValue) {
  std::string_view line = "model name\t: Xeon: 8 ";
  EXPECT_EQ(take_key(line, ':'), "model name");
  EXPECT_EQ(line, "Xeon: 8");
  std::string_view empty = "KEY=";
  EXPECT_EQ(take_key(empty, '='), "KEY");
  EXPECT_EQ(empty, "");
}

TEST(TakeKey, IsEmptyWithoutASeparator) {
  std::string_view line = "no key";
  EXPECT_EQ(take_key(line, ':'), "");
}

TEST(TakePrefix, TakesItOrNothing) {
  std::string_view text = "0x1f";
  EXPECT_FALSE(take_prefix(text, "0X"));
  EXPECT_TRUE(take_prefix(text, "0x"));
  EXPECT_EQ(text, "1f");
}

TEST(Trimmed, TakesBlanksOffTheEndsAlone) {
  EXPECT_EQ(trimmed(" \ta b\t"), "a b");
  EXPECT_EQ(trimmed("\na\n"), "\na\n");
  EXPECT_EQ(trimmed("\na\n", "\n"), "a");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(ItemsOf, LeaveOutWhatIsEmpty) {
  EXPECT_THAT(items_of(",a,,b c,"), ElementsAre("a", "b c"));
  EXPECT_THAT(items_of("a, b , ,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(items_of("a:b", ':'), ElementsAre("a", "b"));
  EXPECT_THAT(items_of(""), IsEmpty());
}

TEST(Letters, ChangeTheirCaseWhateverTheLocale) {
  EXPECT_EQ(lower("GPU-\xC3\x84z0"), "gpu-\xC3\x84z0");
  EXPECT_EQ(upper("gpu-\xC3\xA4Z0"), "GPU-\xC3\xA4Z0");
}

}  // namespace
}  // namespace wattle
