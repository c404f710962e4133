#include "base/text/shell_words.hpp"

#include <gmock/gmock.h>

#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ShellWords, AreCutAtBlanks) {
  EXPECT_THAT(split_words("  sudo -n\tnvidia-smi "), ElementsAre("sudo", "-n", "nvidia-smi"));
  EXPECT_THAT(split_words(""), IsEmpty());
  EXPECT_THAT(split_words(" \t\n"), IsEmpty());
}

TEST(ShellWords, KeepWhatIsQuoted) {
  EXPECT_THAT(split_words(R"(a 'b c' "d e"f '')"), ElementsAre("a", "b c", "d ef", ""));
  EXPECT_THAT(split_words(R"("a\"b\\c\d" 'e\f' g\ h)"), ElementsAre("a\"b\\c\\d", "e\\f", "g h"));
}

TEST(ShellWords, ReplaceNothing) {
  EXPECT_THAT(split_words("$HOME `x` * ~ a;b a#b"),
              ElementsAre("$HOME", "`x`", "*", "~", "a;b", "a#b"));
}

TEST(ShellWords, EndAtAComment) { EXPECT_THAT(split_words("a # b\nc"), ElementsAre("a", "c")); }

TEST(ShellWords, AreNoneWhereAQuoteHasNoEnd) {
  for (const char* const command : {"a 'b", "a \"b", "a\\"}) {
    EXPECT_THROW((void)split_words(command), InvalidArgument) << command;
  }
}

}  // namespace
}  // namespace wattle
