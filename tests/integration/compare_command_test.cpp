// `wattle compare`, as its user runs it.

#include "bench_command.hpp"

namespace wattle::integration {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CompareCommandTest : public BenchCommandTest {
 protected:
  [[nodiscard]] std::string bench_file(const std::string& name, const std::string& command) const {
    const Outcome outcome =
        run(bench({"-r", "5", "-N", "-n", "work", "--export-json", path(name), command}));
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return path(name).string();
  }
};

TEST_F(CompareCommandTest, FailsWhereBCostsMoreThanIsAllowed) {
  const std::string fast = bench_file("fast.json", "sleep 0.01");
  const std::string slow = bench_file("slow.json", "sleep 0.4");
  const Words limit = {"--fail-above", "5%", "--quantity", "time"};
  const Outcome worse = run(wattle(Words{"compare", fast, slow} + limit));
  EXPECT_EQ(worse.code(), 1) << worse.err;
  EXPECT_THAT(worse.out, HasSubstr("more time than"));
  EXPECT_EQ(run(wattle(Words{"compare", slow, fast} + limit)).code(), 0);
  const Words memory = {"--fail-above", "500%", "--quantity", "memory"};
  EXPECT_THAT(run(wattle(Words{"compare", slow, fast} + memory)).out, HasSubstr("memory"));
  EXPECT_EQ(run(wattle({"compare", slow, fast, "--fail-above", "5%"})).code(), 2);
  const Json json = parse_json(run(wattle({"compare", "--json", fast, slow})).out);
  EXPECT_EQ(json["schema"], "wattle.compare/1");
  ASSERT_THAT(json["comparisons"], Not(IsEmpty()));
  const Json& time = json["comparisons"][0];
  EXPECT_EQ(time["quantity"], "wall_s");
  EXPECT_GT(time["change_percent"], 100.0);
}

TEST_F(CompareCommandTest, FailsWhereRunsFailed) {
  const auto file = [&](const char* name, const Words& options, const char* command) {
    const Outcome outcome = run(bench(Words{"-r", "3", "-n", "work", "--export-json", path(name)} +
                                      options + Words{command}));
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return path(name).string();
  };
  const std::string good = file("good.json", {}, "sleep 0.05");
  const std::string bad = file("bad.json", {"--ignore-failure"}, "exit 3");
  const Words limit = {"--fail-above", "5%", "--quantity", "time"};
  for (const Words& sides : {Words{good, bad}, Words{bad, good}}) {
    const Outcome outcome = run(wattle(Words{"compare"} + sides + limit));
    EXPECT_EQ(outcome.code(), 2);
    EXPECT_THAT(outcome.err, HasSubstr("3 of 3 runs of " + bad + " failed; --ignore-failure"));
  }
  const auto ignoring = [&](const char* option) {
    return run(wattle(Words{"compare", good, bad, option} + limit)).code();
  };
  EXPECT_EQ(ignoring("--ignore-failure"), 0);
  EXPECT_EQ(ignoring("--ignore-failure=3"), 0);
  EXPECT_EQ(ignoring("--ignore-failure=4"), 2);
  EXPECT_EQ(ignoring("--ignore-failure=x"), kUsage);
  EXPECT_EQ(run(wattle({"compare", good, bad})).code(), 0) << "without a limit";
}

TEST_F(CompareCommandTest, FailsWhereHalfOfTheRunsFailed) {
  const std::string counter = path("count").string();
  const Outcome made = run(bench({"-r", "4", "-i", "-n", "work", "--export-json", path("half.json"),
                                  "n=$(cat " + counter + " || echo 0); echo $((n + 1)) > " +
                                      counter + "; [ $((n % 2)) = 0 ]"}));
  ASSERT_EQ(made.code(), 0) << made.err;
  const std::string half = path("half.json").string();
  const Outcome outcome =
      run(wattle({"compare", half, half, "--fail-above", "10000%", "--quantity", "time"}));
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("2 of 4 runs of " + half + " failed"));
}

TEST_F(CompareCommandTest, CannotDecideWhereACommandIsOnOneSideAlone) {
  const auto file = [&](const char* name, const char* second) {
    const Outcome outcome =
        run(bench({"-r", "3", "-N", "--export-json", path(name), "true", second}));
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return path(name).string();
  };
  const std::string a = file("a.json", "sleep 0.01");
  const std::string b = file("b.json", "sleep 0.02");
  const Outcome outcome =
      run(wattle({"compare", a, b, "--fail-above", "10000%", "--quantity", "time"}));
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("a command is not compared; see the notes"));
  EXPECT_THAT(outcome.out, HasSubstr("sleep 0.01 is not compared"));
  EXPECT_THAT(outcome.out, HasSubstr("sleep 0.02 is not compared"));
}

TEST_F(CompareCommandTest, ReadsOneSideFromStdin) {
  const std::string file = bench_file("one.json", "true");
  const Start piped{
      .command = {"sh", "-c", "exec \"$0\" compare - \"$1\" < \"$1\"", wattle_program(), file}};
  EXPECT_EQ(run(piped).code(), 0);
}

TEST_F(CompareCommandTest, FindsTheSavedRunsOfABenchmark) {
  const auto with_history = [&](Start start) {
    start.environment["WATTLE_HISTORY"] = path("history.db").string();
    start.environment["XDG_CONFIG_HOME"] = path("config").string();
    return start;
  };
  const Outcome saved = run(with_history(
      bench({"--tag", "day=1", "-r", "3", "-w", "2", "-N", "-L", "t", "0.01,0.03", "sleep {t}"})));
  ASSERT_EQ(saved.code(), 0) << saved.err;
  EXPECT_THAT(saved.err, ContainsRegex("saved 6 runs: wattle history --tag bench=[0-9a-z]{8}\n"));
  const Json runs = parse_json(
      run(with_history(wattle({"history", "--json", "--tag", "t=0.03", "--tag", "bench"}))).out);
  ASSERT_EQ(runs["runs"].size(), 3U) << "no warm-up";
  EXPECT_EQ(runs["runs"][0]["command"], "sleep 0.03");
  EXPECT_EQ(runs["runs"][0]["tags"]["day"], "1");

  const auto compared = [&](const std::string& a, const std::string& b) {
    return run(with_history(wattle({"compare", a, b})));
  };
  const Outcome outcome = compared("tag:t=0.01,day=1", "command:sleep 0.03");
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("command:sleep 0.03"));
  const Outcome nothing = compared("tag:t=0.01", "tag:t=0.03,host:no-such-host");
  EXPECT_EQ(nothing.code(), 2);
  EXPECT_THAT(nothing.err, HasSubstr("no saved run fulfils tag:t=0.03,host:no-such-host"));
}

TEST_F(CompareCommandTest, SaysWhyItCannotCompare) {
  const Outcome absent = run(wattle({"compare", path("none.json"), path("none.json")}));
  EXPECT_EQ(absent.code(), 2);
  EXPECT_THAT(absent.err, HasSubstr("No such file or directory"));
}

TEST_F(CompareCommandTest, RefusesJsonAndAPageOnOneStdout) {
  for (const char* const command : {"compare", "report"}) {
    const Outcome outcome = run(wattle({command, "--json", "--html", "-", "a.json", "b.json"}));
    EXPECT_EQ(outcome.code(), 64);
    EXPECT_THAT(outcome.err, HasSubstr("--html"));
  }
}

}  // namespace
}  // namespace wattle::integration
