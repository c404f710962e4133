// `wattle bench`, as its user runs it.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "bench_command.hpp"
#include "fakes/powercap_tree.hpp"
#include "pty.hpp"

namespace wattle::integration {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(BenchCommandTest, RunsEachCommandInRounds) {
  const std::string log = path("log").string();
  const Json json = json_of({"--runs", "4", "--seed", "3", "--warmup", "1", "-N",
                             "sh -c 'echo a >> " + log + "'", "sh -c 'echo b >> " + log + "'"});
  const std::string text = content_of(log);
  EXPECT_EQ(text.substr(0, 4), "a\nb\n");  // the warm-up
  ASSERT_EQ(text.size(), 20U);
  for (std::size_t round = 1; round < 5; ++round) {
    EXPECT_THAT(text.substr(4 * round, 4), testing::AnyOf("a\nb\n", "b\na\n"));
  }
  EXPECT_EQ(json["results"].size(), 2U);
  EXPECT_EQ(json["results"][0]["runs"], 4);
  EXPECT_EQ(json["results"][0]["values"]["round"], Json({1, 2, 3, 4}));
  EXPECT_TRUE(json["is_interleaved"].get<bool>());
  EXPECT_THAT(json["results"][1]["values"]["exit_code"], Each(0));
  EXPECT_GT(json["results"][0]["wall_s"]["mean"].get<double>(), 0.0);
  EXPECT_TRUE(json["results"][0]["energy_j"].is_null());
  EXPECT_THAT(json["energy"]["missing"], Not(IsEmpty()));
}

TEST_F(BenchCommandTest, RunsSetupPreparationConclusionAndCleanup) {
  const std::string log = path("log").string();
  const auto say = [&](const std::string& what) { return "echo " + what + " >> '" + log + "'"; };
  (void)json_of({"-r", "2", "--sequential", "--setup", say("setup{x}"), "--prepare", say("prepare"),
                 "--conclude", say("conclude"), "--cleanup", say("cleanup"), "-L", "x", "1,2",
                 say("run{x}")});
  EXPECT_EQ(content_of(log),
            "setup1\nprepare\nrun1\nconclude\nprepare\nrun1\nconclude\ncleanup\n"
            "setup2\nprepare\nrun2\nconclude\nprepare\nrun2\nconclude\ncleanup\n");
}

TEST_F(BenchCommandTest, PassesParametersOnAsTheyAre) {
  const std::string log = path("log").string();
  (void)json_of({"-r", "1", "-N", "-L", "x", "two ' words\nand \\, a line",
                 "sh -c 'printf %s \"$1\" > " + log + "' sh \"{x}\""});
  EXPECT_EQ(content_of(log), "two ' words\nand , a line");
}

TEST_F(BenchCommandTest, IsWholeThoughItsCleanupFails) {
  const Outcome outcome = run(bench({"-r", "2", "--cleanup", "false", "true"}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("stopped before the end")));
}

TEST_F(BenchCommandTest, StopsAtACommandThatFails) {
  const Outcome outcome = run(bench({"-r", "3", "true", "exit 3"}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("wattle bench: the command 'exit 3' failed with exit status 3; "
                        "--output inherit shows what it prints, --ignore-failure goes on"));
  EXPECT_THAT(run(bench({"-r", "3", "kill -9 $$"})).err,
              HasSubstr("the command 'kill -9 $$' was killed by signal 9"));
}

TEST_F(BenchCommandTest, LeavesStdoutToAResultThatGoesThere) {
  const Outcome outcome = run(bench({"-r", "2", "-N", "--export-json", "-", "true"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(parse_json(outcome.out)["results"].size(), 1U);
  EXPECT_THAT(outcome.err, HasSubstr("true, 2 runs"));
}

TEST_F(BenchCommandTest, RefusesOneFileForTwoResults) {
  const std::string file = path("both").string();
  const Outcome outcome = run(bench({"--export-json", file, "--export-csv", file, "true"}));
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("two outputs cannot go to one file"));
  EXPECT_EQ(run(bench({"--output", file, "--export-csv", file, "true"})).code(), kUsage);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(BenchCommandTest, RefusesAGpuThatIsNotThereAsAWrongOption) {
  const Outcome outcome = run(bench({"--gpus", "7", "true"}));
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, testing::StartsWith("wattle bench: --gpus: no GPU is called '7'"));
}

TEST_F(BenchCommandTest, NoticesAnotherBenchmark) {
  const std::string log = path("log").string();
  std::string warnings;
  // Again where the other one met that of another test, which is over by now.
  for (int attempt = 0; attempt < 10 && warnings.find("another") == std::string::npos; ++attempt) {
    std::filesystem::remove(log);
    Process other(bench({"-r", "1000", "echo >> " + log + "; sleep 0.02"}));
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(log); }));
    const Json json = json_of({"-r", "2", "-N", "true"});
    EXPECT_EQ(json["results"][0]["runs"], 2);
    warnings = json["warnings"].dump();
    other.send(SIGTERM);
    EXPECT_EQ(other.wait().signal(), SIGTERM);
  }
  EXPECT_THAT(warnings, HasSubstr("another wattle bench ran"));
}

TEST_F(BenchCommandTest, GoesOnWhereFailuresAreIgnored) {
  const Json json = json_of({"-r", "2", "-i", "exit 3", "kill -9 $$"});
  EXPECT_THAT(json["results"][0]["values"]["exit_code"], ElementsAre(3, 3));
  EXPECT_THAT(json["results"][1]["values"]["exit_signal"], ElementsAre(9, 9));
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("exit 3: 2 of 2 runs failed"));
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("kill -9 $$: 2 of 2 runs failed"));
}

TEST_F(BenchCommandTest, SaysWhatCannotBeExecutedOrPrepared) {
  const Outcome absent = run(bench({"-N", "no-such-program"}));
  EXPECT_EQ(absent.code(), 1);
  EXPECT_THAT(absent.err, HasSubstr("cannot execute no-such-program: No such file"));
  const Outcome unprepared = run(bench({"--prepare", "false", "true"}));
  EXPECT_EQ(unprepared.code(), 1);
  EXPECT_THAT(unprepared.err, HasSubstr("the preparation command false failed with exit status 1"));
}

TEST_F(BenchCommandTest, OfOneRunHasNoInterval) {
  const Json json = json_of({"--runs", "1", "true", "true "});
  EXPECT_TRUE(json["results"][0]["wall_s"]["sd"].is_null());
  for (const Json& comparison : json["comparisons"]) {
    EXPECT_TRUE(comparison["low_percent"].is_null());
  }
}

TEST_F(BenchCommandTest, GivesCommandsTheStreamsThatAreAskedFor) {
  std::ofstream(path("in")) << "from a file";
  const std::string out = path("out").string();
  const Outcome to_file = run(bench({"-r", "1", "--input", path("in"), "--output", out, "cat"}));
  EXPECT_EQ(to_file.code(), 0) << to_file.err;
  EXPECT_EQ(content_of(out), "from a file");
  // More than a pipe holds.
  const Outcome piped = run(bench({"-r", "1", "--output", "pipe", "head -c 1000000 /dev/zero"}));
  EXPECT_EQ(piped.code(), 0) << piped.err;
  const Outcome inherited = run(bench({"-r", "1", "--output", "inherit", "echo inherited"}));
  EXPECT_THAT(inherited.out, HasSubstr("inherited\n"));
}

TEST_F(BenchCommandTest, DoesNotWaitForDaemonsNorCountThem) {
  // Only procfs shows what still runs.
  const Outcome outcome =
      run(wattle({"bench", "-r", "2", "--export-json", path("bench.json"), "--sysfs", path("none"),
                  "--nvml-library", path("nothing.so"), "sleep 60 > /dev/null & true"}));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json json = parse_json(content_of(path("bench.json")));
  EXPECT_LT(json["results"][0]["wall_s"]["max"].get<double>(), 30.0);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("2 processes still ran"));
}

TEST_F(BenchCommandTest, GivesCommandsUnblockedSignals) {
  const Json json = json_of(
      {"-r", "2", "-N", "sh -c 'grep SigBlk /proc/self/status > " + path("mask").string() + "'"});
  EXPECT_THAT(content_of(path("mask")), HasSubstr("0000000000000000"));
  EXPECT_EQ(json["results"][0]["runs"], 2);
}

TEST_F(BenchCommandTest, PrintsTheResultsSoFarWhenItIsInterrupted) {
  const std::string log = path("log").string();
  Process process(bench({"--runs", "1000", "echo x >> " + log + "; sleep 0.02"}));
  ASSERT_TRUE(eventually([&] {
    std::error_code none;
    return std::filesystem::exists(log) && std::filesystem::file_size(log, none) > 6;
  }));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.signal(), SIGINT);
  EXPECT_THAT(outcome.out, HasSubstr("runs"));
  EXPECT_THAT(outcome.out, HasSubstr("time"));
  EXPECT_THAT(outcome.out, HasSubstr("warning: stopped before the end: the runs that ended"));
}

TEST_F(BenchCommandTest, MeasuresEnergyWhereThereIsASensor) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-0");
  const Process player({.command = {player_program(), "60000", tree.zone_path("intel-rapl:0"), "50",
                                    "6.103515625e-05", "61035", "1000"}});
  const System system = tree.system();
  const Outcome outcome =
      run(wattle({"bench", "--runs", "3", "-N", "--export-json", path("bench.json"), "--sysfs",
                  system.sysfs, "--procfs", system.procfs, "--nvml-library", path("nothing.so"),
                  "sleep 0.05", "sleep 0.1"}));
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  const Json json = parse_json(content_of(path("bench.json")));
  for (const Json& result : json["results"]) {
    for (const Json& energy : result["values"]["energy_j"]) EXPECT_GT(energy.get<double>(), 0.1);
  }
  EXPECT_EQ(json["energy"]["covers"], Json({"cpu"}));
  EXPECT_EQ(json["comparisons"][0]["quantity"], "energy_j");
  EXPECT_THAT(outcome.out, HasSubstr("energy"));
}

TEST_F(BenchCommandTest, RefusesAPathBeforeAnythingRuns) {
  const Outcome outcome =
      run(bench({"--export-json", path("no/such/folder"), "echo x > " + path("ran").string()}));
  EXPECT_NE(outcome.code(), 0);
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
  const Outcome input =
      run(bench({"--input", path("none"), "--setup", "echo x > " + path("ran").string(), "true"}));
  EXPECT_NE(input.code(), 0);
  EXPECT_THAT(input.err, HasSubstr("cannot open"));
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(BenchCommandTest, CleansUpWhateverHappened) {
  const std::string file = path("cleaned").string();
  const Words cleanup = {"-r", "2", "--cleanup", "echo x >> " + file};
  EXPECT_EQ(run(bench(cleanup + Words{"exit 3"})).code(), 1);
  EXPECT_EQ(content_of(file), "x\n") << "after a failure";
  const Outcome interrupted = run(bench(cleanup + Words{"kill -INT $PPID; sleep 5"}));
  EXPECT_EQ(interrupted.signal(), SIGINT);
  EXPECT_EQ(content_of(file), "x\nx\n") << "after Ctrl-C";
  const Outcome both = run(bench({"-r", "1", "--cleanup", "exit 7", "exit 3"}));
  EXPECT_EQ(both.code(), 1);
  EXPECT_THAT(both.err, HasSubstr("the cleanup command 'exit 7' failed"));
  EXPECT_THAT(both.err, HasSubstr("failed with exit status 3"));
}

TEST_F(BenchCommandTest, ShowsTheOutputAndWritesATableForOrgMode) {
  const Outcome shown = run(bench(
      {"-r", "1", "--show-output", "--export-orgmode", path("t.org").string(), "echo 'a|b'"}));
  EXPECT_EQ(shown.code(), 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("a|b\n"));
  EXPECT_THAT(content_of(path("t.org")),
              testing::AllOf(testing::StartsWith("| Command | "), HasSubstr("\n|--+--"),
                             HasSubstr("| =echo 'a\\vert{}b'= | ")));
}

TEST_F(BenchCommandTest, IgnoresTheExitStatusesThatItIsGiven) {
  EXPECT_EQ(run(bench({"-r", "1", "--ignore-failure=2", "exit 3"})).code(), 1);
  EXPECT_EQ(run(bench({"-r", "1", "--ignore-failure=2,3", "exit 3"})).code(), 0);
  EXPECT_EQ(run(bench({"-r", "1", "-i", "exit 3"})).code(), 0);
  EXPECT_EQ(run(bench({"-r", "1", "--ignore-failure=all-non-zero", "kill -9 $$"})).code(), 0);
  EXPECT_EQ(run(bench({"-r", "1", "--ignore-failure=137", "kill -9 $$"})).code(), 0);
  EXPECT_EQ(run(bench({"-r", "1", "--ignore-failure=no", "true"})).code(), kUsage);
}

TEST_F(BenchCommandTest, SavesTheRunsSoFarWhenACommandFails) {
  Start start = bench({"--save", "--no-save"});
  EXPECT_EQ(run(start).code(), kUsage);
  start = bench({"--save", "-r", "3", "--sequential", "true", "exit 3"});
  start.environment["WATTLE_HISTORY"] = path("history.db").string();
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("saved 3 runs: "));
}

TEST_F(BenchCommandTest, DrawsABarOnATerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  terminal.resize(120);
  Start start = bench({"-r", "4", "-N", "sleep 0.01"});
  start.environment["LC_ALL"] = "C.UTF-8";
  start.environment["TERM"] = "xterm";
  start.prepare = [&] { terminal.become_terminal(); };
  Process process(start);
  EXPECT_TRUE(terminal.shows("[█████               ] 25 %, about "));
  EXPECT_TRUE(terminal.shows(" s left; sleep 0.01: "));  // the estimate so far
  EXPECT_TRUE(terminal.shows("4 runs"));
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(BenchCommandTest, WarnsOfCpusThatWereThrottledMeanwhileAlone) {
  const std::filesystem::path folder = path("none/devices/system/cpu/cpu0/thermal_throttle");
  std::filesystem::create_directories(folder);
  const std::string events = (folder / "core_throttle_count").string();
  std::ofstream(events) << "5\n";
  const auto warnings_of = [&](const std::string& command) {
    return json_of({"-r", "2", command})["warnings"].dump();
  };
  EXPECT_THAT(warnings_of("true"), Not(HasSubstr("throttled")));
  EXPECT_THAT(warnings_of("echo 6 > '" + events + "'"), HasSubstr("throttled"));
}

}  // namespace
}  // namespace wattle::integration
