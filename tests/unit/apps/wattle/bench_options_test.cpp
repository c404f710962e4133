#include "bench/bench_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/compare_options.hpp"
#include "cli/answer.hpp"
#include "parsed_line.hpp"

namespace wattle::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

BenchOptions bench(const std::vector<const char*>& words) {
  return options_of<BenchOptions>(words);
}

std::string error(const std::vector<const char*>& words) {
  const Answer answer = answer_to(words);
  EXPECT_EQ(answer.exit_status, kUsageError);
  return answer.text;
}

TEST(BenchOptions, AreHyperfines) {
  const BenchOptions options = bench({"bench",  "-w",
                                      "3",      "-m",
                                      "5",      "-M",
                                      "20",     "-N",
                                      "-i",     "--setup",
                                      "make",   "-p",
                                      "sync",   "-C",
                                      "rm x",   "-c",
                                      "clean",  "-n",
                                      "one",    "-n",
                                      "two",    "--export-json",
                                      "o.json", "--time-limit",
                                      "60",     "a b",
                                      "c"});
  EXPECT_THAT(options.commands, ElementsAre("a b", "c"));
  EXPECT_THAT(options.names, ElementsAre("one", "two"));
  EXPECT_THAT(options.prepare, ElementsAre("sync"));
  EXPECT_THAT(options.conclude, ElementsAre("rm x"));
  EXPECT_EQ(options.setup, "make");
  EXPECT_EQ(options.cleanup, "clean");
  EXPECT_EQ(options.warmup, 3U);
  EXPECT_EQ(options.min_runs, 5U);
  EXPECT_EQ(options.max_runs, 20U);
  EXPECT_EQ(options.time_limit, 60s);
  EXPECT_EQ(options.shell, "none");
  EXPECT_TRUE(options.ignored.all);
  EXPECT_EQ(options.json_path, "o.json");
}

TEST(BenchOptions, OfRunsSetBothLimits) {
  const BenchOptions options = bench({"bench", "--runs", "1", "a"});
  EXPECT_EQ(options.min_runs, 1U);
  EXPECT_EQ(options.max_runs, 1U);
}

TEST(BenchOptions, TakeParametersBeforeAndAfterTheCommand) {
  const BenchOptions options = bench(
      {"bench", "-L", "x", "1,2", "echo {x} {y}", "-P", "y", "-1", "1", "-D", "0.5", "echo {y}"});
  EXPECT_THAT(options.commands, ElementsAre("echo {x} {y}", "echo {y}"));
  ASSERT_EQ(options.parameters.size(), 2U);
  EXPECT_EQ(options.parameters[0].name, "y");
  EXPECT_THAT(options.parameters[0].values, ElementsAre("-1.0", "-0.5", "0.0", "0.5", "1.0"));
  EXPECT_THAT(options.parameters[1].values, ElementsAre("1", "2"));
}

TEST(BenchOptions, ThatAreWrongGetOneSentence) {
  EXPECT_THAT(error({"bench"}), HasSubstr("no command given: wattle bench CMD..."));
  EXPECT_THAT(error({"bench", "  "}), HasSubstr("a command is empty"));
  EXPECT_THAT(error({"bench", "-r", "0", "a"}), HasSubstr("--runs takes a whole number from 1"));
  EXPECT_THAT(error({"bench", "-m", "5", "-M", "3", "a"}), HasSubstr("less than --min-runs"));
  EXPECT_THAT(error({"bench", "-D", "2", "a"}), HasSubstr("needs --parameter-scan"));
  EXPECT_THAT(error({"bench", "-L", "x", "1", "-L", "x", "2", "a"}), HasSubstr("given twice"));
  EXPECT_THAT(error({"bench", "-N", "a 'b"}), HasSubstr("a quote has no end"));
  EXPECT_THAT(error({"bench", "-n", "x", "a", "b"}),
              HasSubstr("is given once for 2 commands: give it once for each command"));
  EXPECT_THAT(error({"bench", "--nope", "a"}), HasSubstr("--nope"));
}

TEST(CompareOptions, AreTwoFilesAndALimit) {
  const auto compare =
      options_of<CompareOptions>({"compare", "a.json", "b.json", "--fail-above", "5%"});
  EXPECT_EQ(compare.a, "a.json");
  EXPECT_EQ(compare.b, "b.json");
  EXPECT_DOUBLE_EQ(*compare.fail_above, 0.05);
  EXPECT_EQ(compare.cost, Cost::energy);
}

TEST(CompareOptions, ThatAreWrongGetOneSentence) {
  EXPECT_THAT(error({"compare", "a.json"}), HasSubstr("give two sets of runs"));
  EXPECT_THAT(error({"compare", "a", "b", "--fail-above", "much"}), HasSubstr("takes percent"));
  EXPECT_THAT(error({"compare", "a", "b", "--quantity", "heat"}), HasSubstr("not 'heat'"));
}

}  // namespace
}  // namespace wattle::app
