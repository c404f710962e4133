#include "output/screen.hpp"

#include <gtest/gtest.h>

namespace wattle::app {
namespace {

constexpr ScreenSize kSize{.columns = 80, .lines = 23};

std::string redrawn(Screen& screen, const std::string& text, ScreenSize size) {
  const Redrawn drawn = screen.redraw(text, size);
  return drawn.movement + drawn.text;
}

TEST(Screen, ReplacesWhatItDrewBefore) {
  Screen screen(true);
  EXPECT_EQ(redrawn(screen, "a\nb\n", kSize), "\r\x1b[Ja\nb\n");
  EXPECT_EQ(redrawn(screen, "c\n", kSize), "\x1b[2A\r\x1b[Jc\n");
  EXPECT_EQ(redrawn(screen, "d\n", kSize), "\x1b[1A\r\x1b[Jd\n");
}

TEST(Screen, ClearsATerminalThatWasResized) {
  Screen screen(true);
  (void)screen.redraw("a\n", kSize);
  EXPECT_EQ(redrawn(screen, "b\n", {.columns = 60, .lines = 23}), "\x1b[2J\x1b[H\x1b[Jb\n");
}

TEST(Screen, PrintsOneTextBelowTheOtherWithoutEscapeSequences) {
  Screen screen(false);
  EXPECT_EQ(redrawn(screen, "a\n", kSize), "a\n");
  EXPECT_EQ(redrawn(screen, "b\n", kSize), "\nb\n");
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
