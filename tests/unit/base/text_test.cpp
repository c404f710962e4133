#include "base/text/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wattle {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

TEST(Printable, LeavesPlainTextAlone) {
  EXPECT_EQ(printable("AMD EPYC 7543 (32 cores)"), "AMD EPYC 7543 (32 cores)");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, LeavesWellFormedUtf8Alone) {
  EXPECT_EQ(printable("µJ ± größer 電力 🔋"), "µJ ± größer 電力 🔋");
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\nb\tc\rd"), R"(a\x0ab\x09c\x0dd)");
  EXPECT_EQ(printable("\x1b[2J\x7f"), R"(\x1b[2J\x7f)");
  EXPECT_EQ(printable("a\0b"sv), R"(a\x00b)");
  EXPECT_EQ(printable("a\u202Eb\u2066c\u200Fd\u061Ce\u2028f"),
            R"(a\u{202e}b\u{2066}c\u{200f}d\u{061c}e\u{2028}f)");
}

TEST(Printable, EscapesC1ControlsInTheirUtf8Form) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            R"(\xc2\x9b31m)");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9f"), R"(\xc2\x80\xc2\x9f)");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0") << "U+00A0, the first that is no control";
}

TEST(Printable, EscapesBytesThatBeginNoSequence) {
  EXPECT_EQ(printable("\x80"), R"(\x80)");
  EXPECT_EQ(printable("\xff\xfe"), R"(\xff\xfe)");
}

TEST(Printable, EscapesSequencesThatEndTooSoon) {
  EXPECT_EQ(printable("\xe2\x82"), R"(\xe2\x82)");
  EXPECT_EQ(printable("\xe2\x82|"), R"(\xe2\x82|)");
  EXPECT_EQ(printable("\xf0\x9f\x94"), R"(\xf0\x9f\x94)");
}

TEST(Printable, EscapesOverlongForms) {
  EXPECT_EQ(printable("\xc0\xaf"), R"(\xc0\xaf)") << "'/' in two bytes";
  EXPECT_EQ(printable("\xe0\x9f\xbf"), R"(\xe0\x9f\xbf)");
  EXPECT_EQ(printable("\xf0\x8f\xbf\xbf"), R"(\xf0\x8f\xbf\xbf)");
}

TEST(Printable, EscapesSurrogatesAndCodePointsBeyondUnicode) {
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
  EXPECT_EQ(printable("\xed\x9f\xbf"), "\xed\x9f\xbf") << "U+D7FF, the last before them";
  EXPECT_EQ(printable("\xf4\x8f\xbf\xbf"), "\xf4\x8f\xbf\xbf") << "U+10FFFF, the last of all";
}

TEST(Printable, CutsLongText) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable(std::string(1'000'000, 'x')), std::string(200, 'x') + "...");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abc€def", 5), "abc...") << "the euro sign is bytes 4 to 6";
  EXPECT_EQ(printable("abc€def", 6), "abc€...");
}

TEST(Printable, IsNotChangedByASecondPass) {
  const std::string once = printable("\x1b\xff€\xc2\x85\n");
  EXPECT_EQ(printable(once), once);
}

TEST(ShellQuoted, LeavesWordsThatNeedNoQuotes) {
  EXPECT_EQ(shell_quoted("--json=run-%h.json"), "--json=run-%h.json");
  EXPECT_EQ(shell_quoted("/usr/bin/g++"), "/usr/bin/g++");
}

TEST(ShellQuoted, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_quoted("exit 7"), "'exit 7'");
  EXPECT_EQ(shell_quoted("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_quoted("~"), "'~'");
  EXPECT_EQ(shell_quoted("größe"), "'größe'");
}

TEST(ShellQuoted, ShowsTheEmptyWord) { EXPECT_EQ(shell_quoted(""), "''"); }

TEST(ShellQuoted, KeepsSingleQuotesInside) { EXPECT_EQ(shell_quoted("it's"), R"('it'\''s')"); }

TEST(ShellLine, QuotesEachWordThatNeedsIt) {
  EXPECT_EQ(shell_line({"sh", "-c", "exit 7", ""}), "sh -c 'exit 7' ''");
  EXPECT_EQ(shell_line({}), "");
}

TEST(ShellQuoted, IsPrintable) { EXPECT_EQ(shell_quoted("a\x1b\xff"), R"('a\x1b\xff')"); }

TEST(Joined, SetsTheSeparatorBetweenAllTexts) {
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<std::string_view>{"a"}, ", "), "a");
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", ""}, ", "), ", b, ");
}

TEST(Joined, TakesTheTextOfEachValue) {
  EXPECT_EQ(joined(std::vector{1, 2}, "; ", [](int value) { return std::to_string(value); }),
            "1; 2");
  EXPECT_EQ(joined(std::vector<std::vector<std::string>>{{"a"}, {"b c"}}, " + ", shell_line),
            "a + 'b c'");
}

TEST(CsvCell, IsQuotedWhereItHoldsWhatEndsACell) {
  EXPECT_EQ(csv_cell("make -j2; x"), "make -j2; x");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_cell(""), "");
}

TEST(ValidUtf8, KeepsWhatIsWellFormed) {
  EXPECT_EQ(valid_utf8(""), "");
  EXPECT_EQ(valid_utf8("a\n\x1b\u00e9\u20ac\U0001F600"), "a\n\x1b\u00e9\u20ac\U0001F600");
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(ValidUtf8, ReplacesEachOtherByte) {
  EXPECT_EQ(valid_utf8("\xff"), "\uFFFD");
  EXPECT_EQ(valid_utf8("a\xc3(b"), "a\uFFFD(b");
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
}

}  // namespace
}  // namespace wattle
