// The exit status is the command's; what is wrong with the call itself has numbers of its own.
#include <sys/resource.h>

#include <csignal>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ExitStatus : public CommandTest {};

TEST_F(ExitStatus, IsThatOfTheCommand) {
  for (const int code : {0, 1, 7, 125, 255}) {
    const auto [outcome, json] = measure({}, child({"exit", std::to_string(code)}));
    EXPECT_EQ(outcome.code(), code);
    EXPECT_EQ(json["exit"], (Json{{"started", true},
                                  {"code", code},
                                  {"signal", nullptr},
                                  {"core_dumped", false},
                                  {"error", nullptr}}));
  }
}

TEST_F(ExitStatus, ComesWithTheJsonOfARun) {
  const auto [outcome, json] = measure({"--interval", "0.05"}, {"sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_EQ(json["schema"], "wattle.run/2");
  EXPECT_EQ(json["command"], (Json{"sh", "-c", "exit 7"}));
  EXPECT_EQ(json["interval_s"], 0.05);
  EXPECT_GT(json["wall_s"], 0.0);
  EXPECT_LE(json["started_unix_s"], json["ended_unix_s"]);
  EXPECT_THAT(
      keys_of(json),
      ElementsAre("schema", "wattle_version", "command", "exit", "started_unix_s", "ended_unix_s",
                  "wall_s", "interval_s", "host", "slurm", "mpi", "energy", "estimate", "share",
                  "resource_usage", "phases", "units", "refused", "overhead"));
}

TEST_F(ExitStatus, JsonHoldsTheFiveGroupsOfUsageFirstAndInOrder) {
  const auto [outcome, json] = measure({}, child({"exit", "0"}));
  EXPECT_THAT(
      keys_of(json["resource_usage"]),
      ElementsAre("max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time",
                  "cpu_user_s", "cpu_system_s", "cpu_s", "cpu_task_clock_s", "peak_rss_bytes",
                  "peak_pss_bytes", "io_read_bytes", "io_written_bytes", "storage_read_bytes",
                  "storage_written_bytes", "minor_faults", "major_faults", "voluntary_switches",
                  "involuntary_switches", "still_running", "processes", "unknown", "estimated",
                  "bounds", "mismatches", "mechanisms"));
}

TEST_F(ExitStatus, Is127ForACommandThatDoesNotExist) {
  const auto [outcome, json] = measure({}, {"no-such-command-anywhere"});
  EXPECT_EQ(outcome.code(), kNotFound);
  EXPECT_THAT(outcome.err, HasSubstr("cannot execute no-such-command-anywhere: No such file"));
  EXPECT_EQ(json["exit"]["started"], false);
  EXPECT_TRUE(json["exit"]["code"].is_null());
  EXPECT_TRUE(json["exit"]["signal"].is_null());
  EXPECT_THAT(json["exit"]["error"], HasSubstr("No such file or directory"));
}

TEST_F(ExitStatus, Is127EvenWhereAFolderOfThePathIsClosedToTheUser) {
  // Root may look into every folder: an ordinary user is needed, who can reach the program.
  std::filesystem::copy(wattle_program(), path("wattle"));
  std::filesystem::create_directory(path("closed"));
  std::filesystem::permissions(path("closed"), std::filesystem::perms::none);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
  const Outcome outcome =
      run({.command = {path("wattle"), "run", "no-such-command-anywhere"},
           .environment = {{"PATH", path("closed").string() + ":/usr/bin:/bin"}},
           .prepare = become_ordinary_user});
  std::filesystem::permissions(path("closed"), std::filesystem::perms::owner_all);
  EXPECT_EQ(outcome.code(), kNotFound);
  EXPECT_THAT(outcome.err, HasSubstr("No such file or directory"));
}

TEST_F(ExitStatus, Is127ForAPathThroughAFile) {
  folder_.write("file", "");
  EXPECT_EQ(run(wattle_run({}, {path("file/command")})).code(), kNotFound);
}

TEST_F(ExitStatus, Is127ForAnEmptyNameAsInAShell) {
  EXPECT_EQ(run(wattle_run({}, {""})).code(), kNotFound);
}

TEST_F(ExitStatus, Is126ForAFileThatMayNotBeExecuted) {
  folder_.write("script", "#!/bin/sh\nexit 0\n");
  const auto [outcome, json] = measure({}, {path("script")});
  EXPECT_EQ(outcome.code(), kNotExecutable);
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
  EXPECT_EQ(json["exit"]["started"], false);
}

TEST_F(ExitStatus, Is126ForAFolder) {
  EXPECT_EQ(run(wattle_run({}, {folder_.path()})).code(), kNotExecutable);
}

TEST_F(ExitStatus, OfACommandThatCannotStartLeavesNoReportAsText) {
  EXPECT_FALSE(has_report(run(wattle_run({}, {"no-such-command-anywhere"})).err));
}

/// Ended by a signal: so does wattle, after its report.
class EndBySignal : public CommandTest, public testing::WithParamInterface<int> {};

TEST_P(EndBySignal, EndsWattleByTheSameSignal) {
  const int signal = GetParam();
  const auto [outcome, json] = measure({}, child({"raise", std::to_string(signal)}));
  EXPECT_EQ(outcome.signal(), signal);
  EXPECT_TRUE(json["exit"]["code"].is_null());
  EXPECT_EQ(json["exit"]["signal"], signal);
}

INSTANTIATE_TEST_SUITE_P(Signals, EndBySignal,
                         testing::Values(SIGTERM, SIGKILL, SIGINT, SIGHUP, SIGPIPE, SIGALRM,
                                         SIGUSR1, SIGABRT, SIGXFSZ),
                         [](const auto& name) { return sigabbrev_np(name.param); });

TEST_F(ExitStatus, OfAKilledCommandIsReportedInTheReport) {
  const Outcome outcome = run(wattle_run({}, child({"raise", std::to_string(SIGTERM)})));
  EXPECT_EQ(outcome.signal(), SIGTERM);
  EXPECT_TRUE(has_report(outcome.err));
  EXPECT_THAT(outcome.err, HasSubstr(": killed by SIGTERM\n"));
}

void allow_core_dumps() {
  constexpr rlimit kUnlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_CORE, &kUnlimited);
}

int core_files_in(const std::filesystem::path& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().find("core") != std::string::npos) ++count;
  }
  return count;
}

TEST_F(ExitStatus, OfACrashLeavesTheCoreDumpOfTheCommandAndNoSecondOne) {
  const Words crash = child({"raise", std::to_string(SIGSEGV)});
  std::filesystem::create_directories(path("alone"));
  std::filesystem::create_directories(path("measured"));
  const Outcome alone =
      run({.command = crash, .folder = path("alone"), .prepare = allow_core_dumps});
  const auto [outcome, json] =
      measure_in({.folder = path("measured"), .prepare = allow_core_dumps}, {}, crash);
  EXPECT_EQ(outcome.signal(), SIGSEGV);
  EXPECT_FALSE(outcome.core_dumped());
  // Where the machine gives dumps to a program instead, both counts are 0.
  EXPECT_EQ(core_files_in(path("measured")), core_files_in(path("alone")));
  EXPECT_EQ(json["exit"]["core_dumped"], alone.core_dumped());
}

TEST_F(ExitStatus, OfAWriterWithoutReadersIsSigpipe) {
  Process process(wattle_run({"--json", path("run.json")}, {"yes"}));
  ASSERT_TRUE(process.prints("y\n"));
  process.close_output();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.signal(), SIGPIPE);
  EXPECT_EQ(parse_json(content_of(path("run.json")))["exit"]["signal"], SIGPIPE);
  EXPECT_TRUE(has_report(outcome.err));
}

}  // namespace
}  // namespace wattle::integration
