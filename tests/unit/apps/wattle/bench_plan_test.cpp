#include "bench/bench_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

BenchOptions options_for(std::vector<std::string> commands) {
  BenchOptions options;
  options.commands = std::move(commands);
  return options;
}

std::vector<std::string> commands_of(const BenchPlan& plan) {
  std::vector<std::string> commands;
  for (const PlannedCommand& command : plan.commands) commands.push_back(command.command);
  return commands;
}

TEST(BenchPlan, FillsInEveryCombinationOfTheParameters) {
  BenchOptions options = options_for({"make -j{n} {what}", "echo {n}"});
  options.parameters = {{"n", {"1", "2"}}, {"what", {"a", "b"}}};
  options.prepare = {"clean {what}"};
  const BenchPlan plan = plan_of(options);
  EXPECT_THAT(commands_of(plan), ElementsAre("make -j1 a", "make -j1 b", "make -j2 a", "make -j2 b",
                                             "echo 1", "echo 1", "echo 2", "echo 2"));
  EXPECT_EQ(plan.commands[1].prepare, "clean b");
  EXPECT_THAT(plan.commands[2].parameters, ElementsAre(Pair("n", "2"), Pair("what", "a")));
}

std::vector<std::string> names_of(const BenchPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedCommand& command : plan.commands) names.push_back(command.name);
  return names;
}

TEST(BenchPlan, NamesCommandsByParametersThatAreNotInThem) {
  BenchOptions options = options_for({"./solve", "./solve {n}"});
  options.parameters = {{"n", {"1", "2"}}};
  options.setup = "make N={n}";
  EXPECT_THAT(names_of(plan_of(options)),
              ElementsAre("./solve (n = 1)", "./solve (n = 2)", "./solve 1", "./solve 2"));
}

TEST(BenchPlan, NumbersCommandsThatAreTheSame) {
  EXPECT_THAT(names_of(plan_of(options_for({"true", "false", "true"}))),
              ElementsAre("true (1)", "false", "true (2)"));
}

TEST(BenchPlan, NeverSearchesAValueForParameters) {
  BenchOptions options = options_for({"echo '{a}' {b} {c} {"});
  options.parameters = {{"a", {"{b}"}}, {"b", {"two words; \"quotes\"\nand a line"}}};
  EXPECT_EQ(plan_of(options).commands.front().command,
            "echo '{b}' two words; \"quotes\"\nand a line {c} {");
}

TEST(BenchPlan, RunsAReferenceFirstUnlessItIsThere) {
  BenchOptions options = options_for({"a", "b"});
  options.reference = "b";
  EXPECT_EQ(plan_of(options).reference, 1U);
  EXPECT_THAT(commands_of(plan_of(options)), ElementsAre("a", "b"));
  options.reference = "c";
  EXPECT_EQ(plan_of(options).reference, 0U);
  EXPECT_THAT(commands_of(plan_of(options)), ElementsAre("c", "a", "b"));
}

TEST(BenchPlan, GivesEachCommandItsPreparation) {
  BenchOptions options = options_for({"a", "b"});
  options.prepare = {"for a", "for b"};
  options.names = {"first", "second"};
  const BenchPlan plan = plan_of(options);
  EXPECT_EQ(plan.commands[1].prepare, "for b");
  EXPECT_EQ(plan.commands[1].name, "second");
}

TEST(BenchPlan, RefusesNumbersThatDoNotFit) {
  BenchOptions options = options_for({"a", "b", "c"});
  options.prepare = {"1", "2"};
  EXPECT_THROW((void)plan_of(options), InvalidArgument);
  options.prepare = {};
  options.names = {"one"};
  EXPECT_THROW((void)plan_of(options), InvalidArgument);
  options.names = {};
  options.parameters = {{"x", std::vector<std::string>(200, "v")},
                        {"y", std::vector<std::string>(200, "v")}};
  EXPECT_THROW((void)plan_of(options), InvalidArgument);
}

TEST(ParameterValues, AreCutAtCommas) {
  EXPECT_THAT(parameter_values("1,2,3"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(parameter_values("a b,,c"), ElementsAre("a b", "", "c"));
  EXPECT_THAT(parameter_values(R"(a\,b,c\\,d\e)"), ElementsAre("a,b", "c\\", "d\\e"));
}

TEST(ScannedValues, HaveTheDecimalsThatWereWritten) {
  EXPECT_THAT(scanned_values("1", "3", "1"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(scanned_values("0", "0.3", "0.1"), ElementsAre("0.0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(scanned_values("4", "0", "-2"), ElementsAre("4", "2", "0"));
  EXPECT_THAT(scanned_values("-1", "1", "1"), ElementsAre("-1", "0", "1"));
}

TEST(ScannedValues, RefuseWhatHasNoEnd) {
  EXPECT_THROW((void)scanned_values("1", "3", "0"), InvalidArgument);
  EXPECT_THROW((void)scanned_values("1", "3", "-1"), InvalidArgument);
  EXPECT_THROW((void)scanned_values("1", "x", "1"), InvalidArgument);
  EXPECT_THROW((void)scanned_values("0", "1000000", "0.001"), InvalidArgument);
}

TEST(OrderOfRound, IsTheSameForTheSameSeed) {
  EXPECT_EQ(order_of_round(20, 7, 3), order_of_round(20, 7, 3));
  EXPECT_NE(order_of_round(20, 7, 3), order_of_round(20, 8, 3));
  EXPECT_NE(order_of_round(20, 7, 3), order_of_round(20, 7, 4));
}

TEST(OrderOfRound, HasEachCommandOnceAndInEveryPlace) {
  std::set<std::size_t> first;
  for (std::size_t round = 1; round <= 40; ++round) {
    const auto order = order_of_round(3, 1, round);
    EXPECT_THAT(order, UnorderedElementsAre(0, 1, 2));
    first.insert(order.front());
  }
  EXPECT_THAT(first, UnorderedElementsAre(0, 1, 2));
}

TEST(Rounds, AreEnoughForThreeSecondsWithinTheLimits) {
  BenchOptions options;
  EXPECT_EQ(rounds_of(options, 1s), 10U);
  EXPECT_EQ(rounds_of(options, 10ms), 300U);
  options.max_runs = 5;
  EXPECT_EQ(rounds_of(options, 10ms), 5U);
  options.max_runs = 100;
  EXPECT_EQ(rounds_of(options, 10ms), 100U);
}

TEST(WordsOf, AreAShellsOrTheCommandsOwn) {
  EXPECT_THAT(words_of("a 'b c' | d", "/bin/sh"), ElementsAre("/bin/sh", "-c", "a 'b c' | d"));
  EXPECT_THAT(words_of("a", "bash --norc"), ElementsAre("bash", "--norc", "-c", "a"));
  EXPECT_THAT(words_of("a 'b c'", "none"), ElementsAre("a", "b c"));
  EXPECT_THROW((void)words_of("a 'b", "none"), InvalidArgument);
}

}  // namespace
}  // namespace wattle::app
