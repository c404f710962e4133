#include "base/text/printable_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json_read.hpp"
#include "base/text/facts_text.hpp"
#include "base/text/text_style.hpp"

namespace wattle {
namespace {

TEST(PrintableText, IsMadeSoHoweverItIsMade) {
  const std::string foreign = "a\x1b[2Jb\u202E";
  const std::string shown = "a\\x1b[2Jb\\u{202e}";
  PrintableText text = foreign;
  EXPECT_EQ(text, shown);
  text = foreign.c_str();
  EXPECT_EQ(text, shown);
  text = std::string_view(foreign);
  EXPECT_EQ(text, shown);
  const nlohmann::ordered_json json = {{"name", foreign}};
  PrintableText taken;
  take_member(json, "name", taken);
  EXPECT_EQ(taken, shown);
}

TEST(PrintableText, IsAllThatJsonHoldsOnceItWasMadeSo) {
  nlohmann::ordered_json json = {{"a", {{{"b", "x\x1b"}, {"n", 1}}, "y\x1b", nullptr}}, {"c", "z"}};
  make_printable(json);
  EXPECT_EQ(json.dump(), R"({"a":[{"b":"x\\x1b","n":1},"y\\x1b",null],"c":"z"})");
}

TEST(PrintableText, IsTheSameWhenItIsMadeSoAgain) {
  const PrintableText once("\x1b\xff\u202E");
  EXPECT_EQ(PrintableText(std::string(once)), once);
}

TEST(SafeOutput, KeepsTextWithItsLines) {
  const std::string text = "50.1 J ±0.4 J\n\tµ 電力\n";
  EXPECT_TRUE(is_safe_output(text, Colors::none));
  EXPECT_EQ(safe_output(text, Colors::none), text);
}

TEST(SafeOutput, KeepsTheColorsOfWattleOnATerminalAlone) {
  const TextStyle style{.color = true};
  for (const Tint tint : {Tint::bold, Tint::dim, Tint::good, Tint::bad}) {
    const std::string text = colored("x", tint, style);
    EXPECT_EQ(safe_output(text, Colors::own), text);
    EXPECT_EQ(safe_output(text, Colors::none).find('\x1b'), std::string::npos);
  }
  EXPECT_EQ(safe_output("\x1b[2J\x1b]0;t\a", Colors::own), R"(\x1b[2J\x1b]0;t\x07)");
}

TEST(SafeOutput, EscapesWhatMovesOrTurns) {
  EXPECT_EQ(safe_output("a\rb\bc\x7f\u009B\u202E\xff", Colors::none),
            R"(a\x0db\x08c\x7f\xc2\x9b\u{202e}\xff)");
}

TEST(SafeOutput, OfJsonIsTheSameValue) {
  const nlohmann::ordered_json json = {{"a", "\x1b[1m\x7f\u009B\u202E ±"}};
  const std::string text = json.dump();
  EXPECT_FALSE(is_safe_output(text, Colors::none));
  for (const std::string& safe : {safe_output(text, Colors::none), safe_json(text)}) {
    EXPECT_TRUE(is_safe_output(safe, Colors::none));
    EXPECT_EQ(nlohmann::ordered_json::parse(safe), json);
  }
}

TEST(FactsText, IsAsWideAsItsLongestLabel) {
  const std::string label(40, 'n');
  const std::string text = facts_text({{"time", "2 s"}, {label, "20 J"}}, {});
  EXPECT_EQ(text, "time" + std::string(38, ' ') + "2 s\n" + label + "  20 J\n");
  EXPECT_EQ(facts_text({{"time", "2 s"}}, {}), "time          2 s\n");
}

}  // namespace
}  // namespace wattle
