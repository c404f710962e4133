#include "control/output_pattern.hpp"

#include <gtest/gtest.h>

#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using namespace std::string_view_literals;

TEST(OutputPattern, MatchesAnyPart) {
  const OutputPattern pattern("fail(ed|ure)");
  EXPECT_TRUE(pattern.matches("it failed.\n"));
  EXPECT_FALSE(pattern.matches("it fails.\n"));
  EXPECT_FALSE(pattern.matches(""));
  EXPECT_EQ(pattern.text(), "fail(ed|ure)");
}

TEST(OutputPattern, IgnoresCaseWhereItSaysSo) {
  EXPECT_TRUE(OutputPattern("(?i)error").matches("An ERROR"));
  EXPECT_FALSE(OutputPattern("error").matches("An ERROR"));
}

TEST(OutputPattern, KnowsTheClassesOfZeusdsPatterns) {
  const OutputPattern pattern(R"(\bcode:\s+\d+\.$)");
  EXPECT_TRUE(pattern.matches("code: \t42."));
  EXPECT_FALSE(pattern.matches("code: x."));
  EXPECT_FALSE(pattern.matches("code: 42x"));
  EXPECT_TRUE(OutputPattern(R"(^\D+$)").matches("abc"));
  EXPECT_TRUE(OutputPattern("(?:a|b)c").matches("bc"));
  EXPECT_TRUE(OutputPattern("[^]x]y").matches("ay"));
  EXPECT_TRUE(OutputPattern("[[:digit:].]x").matches(".x"));
  EXPECT_TRUE(OutputPattern(R"(a\nb)").matches("a\nb"));
}

TEST(OutputPattern, HasADotForAnythingButALineEnd) {
  EXPECT_TRUE(OutputPattern("a.b").matches("axb"));
  EXPECT_FALSE(OutputPattern("a.b").matches("a\nb"));
  EXPECT_FALSE(OutputPattern("^b").matches("a\nb")) << "the text begins once";
}

TEST(OutputPattern, LooksAfterAZeroByte) {
  EXPECT_TRUE(OutputPattern("error").matches("a\0error"sv));
}

TEST(OutputPattern, ThatIsNoneOrMeansSomethingElseHereIsRefused) {
  for (const char* const text :
       {"[", "(", "(?i", "(?m)a", "(?P<a>b)", R"(\pL)", R"(\1)", R"([\d])", "a\\", "*"}) {
    EXPECT_THROW(OutputPattern{text}, InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace wattle::daemon
