#include "screen.hpp"

#include <gtest/gtest.h>

namespace wattle::app {
namespace {

constexpr ScreenSize kSize{.columns = 80, .lines = 23};

TEST(Screen, ReplacesWhatItDrewBefore) {
  Screen screen(true);
  EXPECT_EQ(screen.redraw("a\nb\n", kSize), "\r\x1b[Ja\nb\n");
  EXPECT_EQ(screen.redraw("c\n", kSize), "\x1b[2A\r\x1b[Jc\n");
  EXPECT_EQ(screen.redraw("d\n", kSize), "\x1b[1A\r\x1b[Jd\n");
}

TEST(Screen, ClearsATerminalThatWasResized) {
  Screen screen(true);
  (void)screen.redraw("a\n", kSize);
  EXPECT_EQ(screen.redraw("b\n", {.columns = 60, .lines = 23}), "\x1b[2J\x1b[H\x1b[Jb\n");
}

TEST(Screen, PrintsOneTextBelowTheOtherWithoutEscapeSequences) {
  Screen screen(false);
  EXPECT_EQ(screen.redraw("a\n", kSize), "a\n");
  EXPECT_EQ(screen.redraw("b\n", kSize), "\nb\n");
}

TEST(FittedText, CountsTheLinesThatHaveNoRoom) {
  EXPECT_EQ(fitted("a\nb\nc\n", {}, 3), "a\nb\nc\n");
  EXPECT_EQ(fitted("a\nb\nc\nd\n", {}, 3), "a\nb\n... 2 lines more\n");
  EXPECT_EQ(fitted("a\nb\nc\nd\n", {}, 3, 1), "a\n... 2 lines more\nd\n");
}

TEST(FittedText, CutsLinesThatAreWiderThanTheTerminal) {
  EXPECT_EQ(fitted("abcdef\n", {.width = 3}, 3), "abc\n");
}

}  // namespace
}  // namespace wattle::app
