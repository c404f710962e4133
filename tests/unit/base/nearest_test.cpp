#include <gtest/gtest.h>

#include "base/text/option_words.hpp"

namespace wattle {
namespace {

const std::vector<std::string> kWords = {"run", "track", "power", "energy", "summary", "sensors"};

TEST(Nearest, IsTheWordWithTheFewestSteps) {
  EXPECT_EQ(nearest("powr", kWords), "power");       // one left out
  EXPECT_EQ(nearest("enerrgy", kWords), "energy");   // one too many
  EXPECT_EQ(nearest("trick", kWords), "track");      // another one
  EXPECT_EQ(nearest("snesors", kWords), "sensors");  // two swapped
}

TEST(Nearest, IsTheOnlyOneThatBegins) {
  EXPECT_EQ(nearest("--track", {"--tracking-file", "--trace"}), "--tracking-file");
  EXPECT_EQ(nearest("sum", kWords), "summary");
}

TEST(Nearest, IsNoneWhereSeveralBegin) {
  EXPECT_EQ(nearest("--max", {"--max-connections", "--max-failures"}), "");
}

TEST(Nearest, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest("sleep", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest("-", {"-o"}), "");
  EXPECT_EQ(nearest("power", {}), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'p'), kWords), "");
}

TEST(DidYouMean, IsAQuestionAfterASentence) {
  EXPECT_EQ(did_you_mean("--jsn", {"--json"}), "; did you mean --json?");
  EXPECT_EQ(did_you_mean("--yaml", {"--json"}), "");
}

}  // namespace
}  // namespace wattle
