#include "base/text/text_style.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text/character_widths.hpp"
#include "base/text/facts_text.hpp"

namespace wattle {
namespace {

constexpr TextStyle kNarrow{.width = 20};
constexpr TextStyle kAscii{.unicode = false};
constexpr TextStyle kColor{.color = true};

TEST(TextStyle, CountsTheColumnsThatATerminalDraws) {
  EXPECT_EQ(columns_of("漢字"), 4U);
  EXPECT_EQ(columns_of("e\xcc\x81"), 1U) << "an accent over a letter";
  EXPECT_EQ(cut("漢字", 3), "漢") << "half a character has no room";
  EXPECT_EQ(cut("e\xcc\x81x", 1), "e\xcc\x81");
  EXPECT_EQ(to_style_characters("54 °C", {.unicode = false}), "54 C");
}

TEST(TextStyle, KnowsTheWidthsOfAllScripts) {
  EXPECT_EQ(columns_of("한글"), 4U);
  EXPECT_EQ(columns_of("！￠"), 4U) << "full width";
  EXPECT_EQ(columns_of("\u231A\U0001F525"), 4U) << "pictures, in the first plane too";
  EXPECT_EQ(columns_of("\u303F\uFF61"), 2U) << "a space and a stop of half width";
  EXPECT_EQ(columns_of("\u0915\u094D"), 1U) << "a virama";
  EXPECT_EQ(columns_of("\u05D0\u05BF\u0E01\u0E31"), 2U) << "marks of Hebrew and Thai";
  EXPECT_EQ(columns_of("a\u200Db\uFEFF"), 2U) << "no width";
}

TEST(TextStyle, HasItsTablesInOrder) {
  const auto is_in_order = [](const auto& ranges) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].first > ranges[i].last) return false;
      if (i > 0 && ranges[i].first <= ranges[i - 1].last) return false;
    }
    return true;
  };
  EXPECT_TRUE(is_in_order(kNoWidth));
  EXPECT_TRUE(is_in_order(kTwoColumns));
}

TEST(ColumnsOf, AreCharactersWithoutEscapeSequences) {
  EXPECT_EQ(columns_of(""), 0U);
  EXPECT_EQ(columns_of("350 J ±0.1"), 10U);
  EXPECT_EQ(columns_of("\x1b[1mbold\x1b[0m"), 4U);
  EXPECT_EQ(columns_of("\x1b["), 0U);
}

TEST(Cut, KeepsWholeCharactersAndAllEscapeSequences) {
  EXPECT_EQ(cut("5 J ±1", 5), "5 J ±");
  EXPECT_EQ(cut("short", 80), "short");
  EXPECT_EQ(cut("\x1b[1mbold\x1b[0m", 2), "\x1b[1mbo\x1b[0m");
}

TEST(Spelled, IsAsciiWhereTheLocaleIs) {
  EXPECT_EQ(to_style_characters("5 J ±1 µJ ▁█", kAscii), "5 J +/-1 uJ _#");
  EXPECT_EQ(to_style_characters("größer", kAscii), "gr??er");
  EXPECT_EQ(to_style_characters("5 J ±1", TextStyle{}), "5 J ±1");
}

TEST(Tinted, IsAsItWasWithoutColors) {
  EXPECT_EQ(colored("x", Tint::bold, TextStyle{}), "x");
  EXPECT_EQ(colored("x", Tint::bold, kColor), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(colored("", Tint::bad, kColor), "");
}

TEST(Fitted, BreaksLinesAtSpaces) {
  EXPECT_EQ(wrapped("  one two three four five\nsix\n", kNarrow),
            "  one two three four\n    five\nsix\n");
  EXPECT_EQ(wrapped("label  one two three four", kNarrow, 7), "label  one two three\n       four");
}

TEST(Fitted, LeavesWordsWhole) {
  EXPECT_EQ(wrapped("see /a/path/that/is/longer/than/this for it\n", kNarrow),
            "see\n/a/path/that/is/longer/than/this\n  for it\n");
}

TEST(Fitted, KeepsANumberWithItsUnit) {
  EXPECT_EQ(wrapped("energy of it: 5.0 J ±1.0 J", kNarrow), "energy of it:\n  5.0 J ±1.0 J");
  EXPECT_EQ(wrapped("it was in use for 12 s", kNarrow), "it was in use for\n  12 s");
}

TEST(Fitted, LeavesEverythingWithoutAWidth) {
  EXPECT_EQ(wrapped("  one two three four five six\n\n", TextStyle{}),
            "  one two three four five six\n\n");
}

TEST(Fitted, CountsNoEscapeSequences) {
  const std::string bold = colored("one two three four!", Tint::bold, kColor);
  EXPECT_EQ(wrapped(bold, {.width = 20, .color = true}), bold);
}

TEST(Fitted, EndsWhereTheIndentIsWiderThanTheTerminal) {
  EXPECT_EQ(wrapped("one two three", {.width = 4}, 10), "one two three");
}

TEST(TextTable, HasColumnsAsWideAsTheirWidestCells) {
  TextTable table({Align::left, Align::right, Align::left}, {}, 2);
  table.add({"domain", "energy ±"});
  table.add({"package_0", "5 J ±1 J", "wrapped"});
  table.add({"x", "unknown"});
  EXPECT_EQ(table.text(),
            "  domain     energy ±\n"
            "  package_0  5 J ±1 J  wrapped\n"
            "  x           unknown\n");
}

TEST(TextTable, IsAlignedInAsciiToo) {
  TextTable table({Align::left, Align::right}, kAscii, 0);
  table.add({"a", "5 J ±1 J"});
  table.add({"b", "unknown"});
  EXPECT_EQ(table.text(), "a  5 J +/-1 J\nb     unknown\n");
}

TEST(TextTable, PutsALastCellBelowThatHasNoRoomBesideTheOthers) {
  TextTable table({Align::left, Align::left}, kNarrow, 0);
  table.add({"a name of 16 bytes", "remark"});
  EXPECT_EQ(table.text(), "a name of 16 bytes\n  remark\n");
}

TEST(TextTable, BreaksItsLastCell) {
  TextTable table({Align::left, Align::left}, kNarrow, 0);
  table.add({"gpu_0", "a long reason for it"});
  EXPECT_EQ(table.text(), "gpu_0  a long reason\n       for it\n");
}

TEST(LabelledLines, StartTheirTextsInOneColumn) {
  const std::string name(40, 'n');
  EXPECT_EQ(labelled_lines("a\tone\n\t  two\nno label\n", {}),
            "a" + std::string(18, ' ') + "one\n" + std::string(21, ' ') + "two\nno label\n");
  EXPECT_EQ(labelled_lines("a\tone\n" + name + "\ttwo\n", {}),
            "a" + std::string(40, ' ') + "one\n" + name + " two\n");
  const std::string list(60, 'n');
  EXPECT_EQ(labelled_lines(list + "\tone\n", {}), list + " one\n");
}

}  // namespace
}  // namespace wattle
