// Report files: where they go, when they are opened, and what is done when they cannot be written.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <sstream>

#include "base/files/file.hpp"
#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

namespace fs = std::filesystem;

class Outputs : public CommandTest {
 protected:
  /// A command that leaves a trace where it runs.
  [[nodiscard]] Words tracer() const { return {"touch", path("trace")}; }
  [[nodiscard]] bool has_trace() const { return fs::exists(path("trace")); }
};

TEST_F(Outputs, ReportGoesToTheFileInsteadOfStderr) {
  const Outcome outcome = run(wattle_run({"-o", path("report")}, {"true"}));
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_TRUE(has_report(content_of(path("report"))));
}

TEST_F(Outputs, QuietDoesNotKeepTheReportFromItsFile) {
  EXPECT_THAT(run(wattle_run({"--quiet", "-o", path("report")}, {"true"})).err, IsEmpty());
  EXPECT_TRUE(has_report(content_of(path("report"))));
}

TEST_F(Outputs, StatusLinesGoToStderrWhileTheCommandRuns) {
  const Outcome outcome = run(wattle_run({"--quiet", "--status", "0.2"}, {"sleep", "0.7"}));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err,
              ContainsRegex("^wattle run: 0\\.[0-9]+ s: .*CPU cores in use, .* memory\n"
                            "wattle run: 0\\.[0-9]+ s: "));
}

TEST_F(Outputs, AFileIsReplaced) {
  folder_.write("report", std::string(10'000, '~'));
  EXPECT_EQ(run(wattle_run({"-o", path("report")}, {"true"})).code(), 0);
  EXPECT_EQ(content_of(path("report")).find('~'), std::string::npos);
}

TEST_F(Outputs, AreAsTheyWereWhereWattleIsKilled) {
  folder_.write("run.json", "of the run before\n");
  Process process(wattle_run({"--json", path("run.json"), "-o", path("report")},
                             child({"print", "ready", "read_all"})));
  ASSERT_TRUE(process.prints("ready"));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().signal(), SIGKILL);
  EXPECT_EQ(content_of(path("run.json")), "of the run before\n");
  EXPECT_FALSE(fs::exists(path("report")));
  process.close_input();
}

TEST_F(Outputs, AreAsTheyWereWhileTheCommandRuns) {
  folder_.write("run.json", "of the run before\n");
  Process process(wattle_run({"--json", path("run.json"), "-o", path("report")},
                             child({"print", "ready", "read_all"})));
  ASSERT_TRUE(process.prints("ready"));
  EXPECT_EQ(content_of(path("run.json")), "of the run before\n");
  EXPECT_FALSE(fs::exists(path("report")));
  process.close_input();
  EXPECT_EQ(process.wait().code(), 0);
  EXPECT_EQ(parse_json(content_of(path("run.json")))["exit"]["code"], 0);
  EXPECT_TRUE(has_report(content_of(path("report"))));
}

TEST_F(Outputs, SeriesOfTwoRunsInOneFileIsThatOfTheLater) {
  const Words options = {"--quiet", "--series", path("power.csv")};
  Process first(wattle_run(options, child({"print", "ready", "read_all"})));
  ASSERT_TRUE(first.prints("ready"));
  Process second(wattle_run(options, child({"print", "ready", "read_all"})));
  ASSERT_TRUE(second.prints("ready"));
  first.close_input();
  EXPECT_EQ(first.wait().code(), 0);
  second.close_input();
  EXPECT_EQ(second.wait().code(), 0);
  const std::string rows = content_of(path("power.csv"));
  EXPECT_THAT(rows, testing::StartsWith("time_unix_s,"));
  EXPECT_EQ(rows.find("time_unix_s", 1), std::string::npos) << "one header";
  EXPECT_EQ(rows.find('\0'), std::string::npos);
}

TEST_F(Outputs, JsonOnStdoutBeginsALineOfItsOwn) {
  const Outcome outcome = run(wattle_run({"--quiet", "--json", "-"}, {"printf", "no line end"}));
  ASSERT_THAT(outcome.out, testing::StartsWith("no line end\n{"));
  EXPECT_EQ(parse_json(outcome.out.substr(outcome.out.find('{')))["exit"]["code"], 0);
}

TEST_F(Outputs, JsonOnStdoutThatIsAFileLeavesNoEmptyLine) {
  for (const auto& [said, begin] :
       {std::pair("whole line\n", "whole line\n{"), {"half a line", "half a line\n{"}, {"", "{"}}) {
    const Outcome outcome = run({.command = {"sh", "-c", "\"$@\" > out", "sh", wattle_program(),
                                             "run", "--quiet", "--json", "-", "--", "printf", said},
                                 .folder = folder_.path()});
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    EXPECT_THAT(content_of(path("out")), testing::StartsWith(begin));
  }
}

TEST_F(Outputs, StdoutByItsPathIsNotReplaced) {
  const Outcome outcome = run({.command = {"sh", "-c", "\"$@\" > out", "sh", wattle_program(),
                                           "run", "-o", "/dev/stdout", "--", "echo", "done"},
                               .folder = folder_.path()});
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(content_of(path("out")), testing::StartsWith("done\n"));
  EXPECT_TRUE(has_report(content_of(path("out"))));
}

TEST_F(Outputs, JsonHasTheUnitsThatAreAskedFor) {
  const auto [outcome, json] = measure(
      {"--ram-unit", "bytes", "--gpu-ram-unit", "megabytes", "--time-unit", "minutes"}, {"true"});
  const Json& usage = json["resource_usage"];
  EXPECT_EQ(usage["max_ram"]["unit"], "bytes");
  EXPECT_GT(usage["max_ram"]["system_capacity"], 1e6);
  EXPECT_EQ(usage["max_gpu_ram"]["unit"], "megabytes");
  EXPECT_EQ(usage["compute_time"]["unit"], "minutes");
  EXPECT_NEAR(usage["compute_time"]["time"].get<double>(), json["wall_s"].get<double>() / 60.0,
              1e-9);
}

TEST_F(Outputs, ATrackingFileHasARowPerInterval) {
  folder_.write("rows.csv", "of the run before\n");
  const Outcome outcome = run(wattle_run(
      {"-q", "--interval", "0.05", "--ram-unit", "megabytes", "--tracking-file", path("rows.csv")},
      {"sleep", "0.4"}));
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  std::istringstream rows(content_of(path("rows.csv")));
  std::string line;
  std::getline(rows, line);
  EXPECT_THAT(line, testing::StartsWith("ram_unit,gpu_ram_unit,time_unit,"));
  std::getline(rows, line);
  EXPECT_THAT(line, testing::StartsWith("megabytes,gigabytes,seconds,"));
  std::getline(rows, line);
  const auto columns = std::ranges::count(line, ',');
  int count = 0;
  while (std::getline(rows, line)) {
    EXPECT_EQ(std::ranges::count(line, ','), columns) << line;
    ++count;
  }
  EXPECT_GE(count, 2) << "one while it ran at least, and one at the end";
}

/// True as soon as the file has a whole line.
bool has_line(const fs::path& file) {
  return eventually([&] { return read_file(file.string()).value_or("").ends_with('\n'); });
}

TEST_F(Outputs, ATrackingFileIsADatabaseWhereItsNameSaysSo) {
  const Outcome outcome = run(wattle_run({"-q", "--interval", "0.05", "--ram-unit", "megabytes",
                                          "--tracking-file", path("rows.sqlite")},
                                         {"sleep", "0.3"}));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Outcome rows =
      run(Start{.command = {"python3", "-c",
                            "import sqlite3, sys\n"
                            "data = sqlite3.connect(sys.argv[1])\n"
                            "print(*data.execute('select ram_unit from static_data'))\n"
                            "print(data.execute('select count(*) from data where "
                            "main_ram > 0').fetchone()[0])",
                            path("rows.sqlite")}});
  ASSERT_THAT(rows.out, testing::StartsWith("('megabytes',)\n")) << rows.err;
  EXPECT_GE(std::stoi(rows.out.substr(rows.out.find('\n') + 1)), 1);
}

TEST_F(Outputs, AUsageFileIsThereWhereWattleIsKilled) {
  Process process(wattle_run({"-q", "--usage-file", path("usage"), "--ram-unit", "bytes"},
                             child({"print", "ready", "read_all"})));
  ASSERT_TRUE(process.prints("ready"));
  ASSERT_TRUE(has_line(path("usage")));
  process.send(SIGKILL);
  (void)process.wait();
  process.close_input();
  const Outcome outcome = run(wattle({"track", "--recover", path("usage"), "--json", "-"}));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json usage = parse_json(outcome.out)["resource_usage"];
  EXPECT_EQ(usage["max_ram"]["unit"], "bytes");
  EXPECT_GT(usage["max_ram"]["main"]["total_rss"], 0.0);
  EXPECT_GE(usage["compute_time"]["time"], 1.0) << "in seconds";
}

TEST_F(Outputs, AUsageFileIsInTheStateFolderAndGoesAtACleanEnd) {
  Start start = wattle_run({"-q"}, child({"print", "ready", "read_all"}));
  start.environment["XDG_STATE_HOME"] = path("state").string();
  Process process(start);
  ASSERT_TRUE(process.prints("ready"));
  const fs::path folder = path("state") / "wattle/usage";
  ASSERT_TRUE(eventually([&] { return fs::exists(folder) && !fs::is_empty(folder); }));
  process.close_input();
  EXPECT_EQ(process.wait().code(), 0);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(Outputs, AUsageFileThatIsNamedGoesAtACleanEnd) {
  EXPECT_EQ(run(wattle_run({"-q", "--usage-file", path("usage")}, {"sleep", "1.2"})).code(), 0);
  EXPECT_FALSE(fs::exists(path("usage")));
}

TEST_F(Outputs, AStateFolderThatCannotBeWrittenIsNoMatter) {
  Start start = wattle_run({"-q"}, {"sleep", "1.2"});
  start.environment["XDG_STATE_HOME"] = "/dev/null";
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(Outputs, FilesOfATrackerAreNoOtherOnes) {
  const Outcome outcome =
      run(wattle_run({"--tracking-file", path("a"), "--usage-file", path(".") / "a"}, tracer()));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("--tracking-file and --usage-file name the same file"));
  EXPECT_FALSE(has_trace());
}

TEST_F(Outputs, AppendMakesJsonLines) {
  const Words options = {"--quiet", "--append", "--json", path("runs.jsonl")};
  for (const char* code : {"3", "4"})
    EXPECT_NE(run(wattle_run(options, child({"exit", code}))).code(), 0);
  const std::string lines = content_of(path("runs.jsonl"));
  const std::size_t end = lines.find('\n') + 1;
  EXPECT_EQ(parse_json(lines.substr(0, end))["exit"]["code"], 3);
  EXPECT_EQ(parse_json(lines.substr(end))["exit"]["code"], 4);
}

TEST_F(Outputs, AppendRefusesATrackingFileThatHoldsARun) {
  const Words options = {"--quiet", "--append", "--tracking-file", path("rows.csv")};
  EXPECT_EQ(run(wattle_run(options, child({"exit", "3"}))).code(), 3) << "a new one is made";
  const std::string rows = content_of(path("rows.csv"));
  EXPECT_THAT(rows, Not(IsEmpty()));
  const Outcome refused = run(wattle_run(options, tracer()));
  EXPECT_EQ(refused.code(), kFailed);
  EXPECT_THAT(refused.err, HasSubstr("--append cannot append to the tracking file"));
  EXPECT_FALSE(has_trace());
  EXPECT_EQ(content_of(path("rows.csv")), rows);
}

TEST_F(Outputs, RunsThatAppendToOneFileAtTheSameTimeKeepTheirLinesWhole) {
  constexpr int kRuns = 8;
  const Words options = {"--quiet", "--append", "--json", path("runs.jsonl")};
  std::vector<std::unique_ptr<Process>> runs;
  for (int i = 0; i < kRuns; ++i) {
    runs.push_back(std::make_unique<Process>(
        wattle_run(options, child({"read_all", "exit", std::to_string(i)}))));
  }
  for (const auto& run : runs) run->close_input();
  for (int i = 0; i < kRuns; ++i) EXPECT_EQ(runs[static_cast<std::size_t>(i)]->wait().code(), i);

  std::istringstream lines(content_of(path("runs.jsonl")));
  std::set<int> codes;
  for (std::string line; std::getline(lines, line);) {
    codes.insert(parse_json(line)["exit"]["code"].get<int>());
  }
  EXPECT_EQ(codes.size(), std::size_t{kRuns});
}

TEST_F(Outputs, ReportAndJsonInOneFileAreRefused) {
  const std::string file = path("both").string();
  const Outcome outcome = run(wattle_run({"-o", file, "--json", file}, tracer()));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("same file"));
  EXPECT_FALSE(has_trace());
}

TEST_F(Outputs, OneFileByTwoNamesIsRefusedToo) {
  const Outcome outcome = run(
      wattle_run({"-o", path("both"), "--json", folder_.path().string() + "/./both"}, tracer()));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_FALSE(has_trace());
}

TEST_F(Outputs, DevNullTakesReportAndJson) {
  EXPECT_EQ(run(wattle_run({"-o", "/dev/null", "--json", "/dev/./null"}, {"true"})).code(), 0);
}

TEST_F(Outputs, APathThatCannotBeOpenedFailsBeforeTheCommandStarts) {
  for (const std::string& bad : {path("no/such/folder/report").string(), folder_.path().string()}) {
    for (const char* option : {"-o", "--json"}) {
      const Outcome outcome = run(wattle_run({option, bad}, tracer()));
      EXPECT_EQ(outcome.code(), kFailed);
      EXPECT_THAT(outcome.err, HasSubstr("cannot write " + bad));
      EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
  }
  EXPECT_FALSE(has_trace());
}

TEST_F(Outputs, PlaceholdersNameHostRankPidAndJob) {
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  Start start = wattle_run({"--json", "%h-%r-%j-100%%-%p.json"}, child({"pid"}));
  start.environment = {{"SLURM_JOB_ID", "4711"}, {"SLURM_PROCID", "3"}};
  start.folder = folder_.path();
  std::string pid = run(start).out;
  pid.pop_back();
  EXPECT_TRUE(fs::exists(path(std::string(host.data()) + "-3-4711-100%-" + pid + ".json")));
}

TEST_F(Outputs, PlaceholdersOutsideOfAJobAreZeroAndNone) {
  Start start = wattle_run({"-o", "%r-%j.txt"}, {"true"});
  start.folder = folder_.path();
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_TRUE(has_report(content_of(path("0-none.txt"))));
}

TEST_F(Outputs, AnUnknownPlaceholderIsRefusedBeforeTheCommandStarts) {
  for (const char* bad : {"%x", "run-%", "%H"}) {
    const Outcome outcome = run(wattle_run({"-o", path(bad)}, tracer()));
    EXPECT_EQ(outcome.code(), kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("after % comes h, r, p, j or another %"));
  }
  EXPECT_FALSE(has_trace());
}

/// A device that is always full, for each output.
class FullDisk : public Outputs, public testing::WithParamInterface<const char*> {};

TEST_P(FullDisk, KeepsTheStatusAndReportsTheTotalsOnStderr) {
  const Outcome outcome =
      run(wattle_run({GetParam(), "/dev/full"}, child({"print", "done", "exit", "7"})));
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_THAT(outcome.err, HasSubstr("cannot write /dev/full: No space left on device\n"));
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_P(FullDisk, ReportsThemEvenWhereQuietWasAskedFor) {
  const Outcome outcome = run(wattle_run({"--quiet", GetParam(), "/dev/full"}, {"true"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_TRUE(has_report(outcome.err));
}

INSTANTIATE_TEST_SUITE_P(Options, FullDisk, testing::Values("-o", "--json"),
                         [](const auto& option) {
                           return option.param == std::string_view("-o") ? "text" : "json";
                         });

TEST_F(Outputs, OneOutputThatFailsDoesNotTakeTheOtherWithIt) {
  const Outcome outcome =
      run(wattle_run({"-o", "/dev/full", "--json", path("run.json")}, child({"exit", "7"})));
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_EQ(parse_json(content_of(path("run.json")))["exit"]["code"], 7);
}

TEST_F(Outputs, AFileSystemThatFillsUpMeanwhileIsReported) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a small file system needs root";
  const std::string disk = path("disk").string();
  fs::create_directories(disk);
  const std::string fill = "cat /dev/zero > '" + disk + "/filler' 2> /dev/null; exit 7";
  Start start = wattle_run({"--quiet", "--json", disk + "/run.json"}, {"sh", "-c", fill});
  constexpr int kNoMount = 99;
  start.prepare = [&] {
    if (!mount_memory(disk, "size=64k")) ::_exit(kNoMount);
  };
  const Outcome outcome = run(start);
  if (outcome.code() == kNoMount) GTEST_SKIP() << "a small file system cannot be mounted here";
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_F(Outputs, AFileSizeLimitOfTheUserIsReported) {
  Start start = wattle_run({"--quiet", "--json", path("run.json")}, child({"exit", "7"}));
  start.prepare = [] {
    constexpr rlimit kLessThanAReport{1024, 1024};  // a sanitizer needs some to start
    ::setrlimit(RLIMIT_FSIZE, &kLessThanAReport);
  };
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_THAT(outcome.err, HasSubstr("File too large"));
}

TEST_F(Outputs, JsonOnStdoutWithoutReadersKeepsTheStatus) {
  Process process(
      wattle_run({"--quiet", "--json", "-"}, child({"print", "ready", "read_all", "exit", "7"})));
  ASSERT_TRUE(process.prints("ready"));
  process.close_output();
  process.close_input();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write stdout: Broken pipe"));
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_F(Outputs, NobodyOnStderrKeepsTheStatus) {
  Start start = wattle_run({}, child({"exit", "7"}));
  start.prepare = [] {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) ::_exit(EXIT_FAILURE);
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
  };
  EXPECT_EQ(run(start).code(), 7);
}

TEST_F(Outputs, FilesGetTheUsersUmask) {
  Start start = wattle_run({"-o", path("report")}, {"true"});
  start.prepare = [] { ::umask(0027); };
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_EQ(fs::status(path("report")).permissions(), fs::perms{0640});
}

}  // namespace
}  // namespace wattle::integration
