// `wattle monitor`: real processes, signals and files; the GPUs are played.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "command.hpp"
#include "fakes/nvml/control.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kUsage = 64;
constexpr int kFailed = 125;

class MonitorCommand : public CommandTest {
 protected:
  /// Writes to the folder "out", beside an empty sysfs.
  [[nodiscard]] Start monitor(const Words& options, const Words& command = {}) const {
    Start start = wattle(Words{"monitor", path("out"), "--interval", "0.01", "--sysfs",
                               path("nothing"), "--nvml-library", nvml_.library_path()} +
                         options + (command.empty() ? Words{} : Words{"--"} + command));
    start.environment = {{"WATTLE_FAKE_NVML", nvml_.script_path()}};
    return start;
  }
  [[nodiscard]] std::size_t rows(const char* name) const {
    std::ifstream file(path("out") / name);
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }
  [[nodiscard]] bool has_rows(std::size_t number) const {
    return eventually([&] { return rows("hw_metrics.csv") >= number; });
  }

  fakes::FakeNvml nvml_{"gpu A\npower step 0 100\nutilization 80 30\n"};
};

TEST_F(MonitorCommand, EndsAtASignalWithTheSummary) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Process process(monitor({}));
    EXPECT_TRUE(has_rows(5));
    process.send(signal);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("NVIDIA")));
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("\n0  "), HasSubstr(" 80.0  80.0 "), HasSubstr("hw_metrics.csv: "),
                      HasSubstr("cpu_metrics.csv: "), HasSubstr("hw_dmon.csv: ")));
    std::filesystem::remove_all(path("out"));
  }
}

/// One of two ranks on one machine.
Start as_rank(Start start, const char* rank) {
  start.environment["OMPI_COMM_WORLD_RANK"] = rank;
  start.environment["OMPI_COMM_WORLD_LOCAL_RANK"] = rank;
  start.environment["OMPI_COMM_WORLD_SIZE"] = "2";
  start.environment["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  return start;
}

TEST_F(MonitorCommand, RefusesOneFolderForSeveralRanksBeforeTheCommandStarts) {
  for (const char* rank : {"0", "1"}) {
    const Outcome outcome = run(as_rank(monitor({}, {"touch", path("trace")}), rank));
    EXPECT_EQ(outcome.code(), kUsage);
    EXPECT_THAT(outcome.err, HasSubstr("DIR names one folder for several ranks"));
    EXPECT_THAT(outcome.err, HasSubstr("put %r, the rank, into the name"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("trace")));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(MonitorCommand, GivesEachRankTheFolderThatItsNameSays) {
  for (const char* rank : {"0", "1"}) {
    Start start = monitor({}, {"true"});
    start.command[2] += "-%r";
    EXPECT_EQ(run(as_rank(start, rank)).code(), 0);
    EXPECT_TRUE(std::filesystem::exists(path(std::string("out-") + rank) / "cpu_metrics.csv"));
  }
}

TEST_F(MonitorCommand, SummarizesItsOwnRunAtTheEndAndAllRunsWhereItIsAsked) {
  (void)run(monitor({}, {"true"}));
  nvml_.set_script("gpu A\npower step 0 70\nutilization 7 3\n");
  const Outcome second = run(monitor({}, {"true"}));
  EXPECT_THAT(second.err,
              AllOf(HasSubstr(" 70.0"), Not(testing::ContainsRegex("\n0 [^\n]* 100\\.0"))));
  const Outcome all = run(wattle({"summary", path("out")}));
  EXPECT_THAT(all.out, AllOf(HasSubstr(" 100.0"), Not(HasSubstr("damaged"))));
}

TEST_F(MonitorCommand, OverwritesNoFileOfOthers) {
  folder_.write("out/hw_metrics.csv", "dear diary\n");
  const Outcome outcome = run(monitor({"--overwrite"}, {"touch", path("started")}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("hw_metrics.csv: it starts with \"dear diary\""),
                                 HasSubstr("remove it")));
  EXPECT_EQ(content_of(path("out") / "hw_metrics.csv"), "dear diary\n");
  EXPECT_FALSE(std::filesystem::exists(path("started")));
}

TEST_F(MonitorCommand, ReplacesTheFilesOfNvidiaSmiWhereItIsToOverwrite) {
  const std::string query =
      "timestamp, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
      "2026/11/21 23:59:58.250, 10 %, 1000 MiB, 100.50 W\n";
  const std::string failed =
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n";
  const std::string dmon =
      "#Date       Time        gpu   pwr  gtemp    sm   mem\n"
      "#YYYYMMDD   HH:MM:SS    Idx     W      C     %     %\n"
      " 20261121   23:59:58      0   100     45    10     1\n";
  for (const std::string& metrics : {query, failed}) {
    folder_.write("out/hw_metrics.csv", metrics);
    folder_.write("out/hw_dmon.csv", dmon);
    const Outcome kept = run(monitor({}, {"touch", path("started")}));
    EXPECT_EQ(kept.code(), kFailed);
    EXPECT_EQ(content_of(path("out") / "hw_metrics.csv"), metrics);
    EXPECT_FALSE(std::filesystem::exists(path("started")));
    const Outcome replaced = run(monitor({"--overwrite"}, {"true"}));
    EXPECT_EQ(replaced.code(), 0) << replaced.err;
    EXPECT_THAT(content_of(path("out") / "hw_metrics.csv"), ContainsRegex("^20[0-9/ :.]+, 80"));
    EXPECT_THAT(content_of(path("out") / "hw_dmon.csv"),
                AllOf(StartsWith("# gpu     sm    mem     fb\n"), Not(HasSubstr("20261121"))));
    std::filesystem::remove_all(path("out"));
  }
}

TEST_F(MonitorCommand, SaysNothingMoreWhereItIsToBeQuiet) {
  Process process(monitor({"--quiet"}));
  EXPECT_TRUE(has_rows(1));
  process.send(SIGINT);
  EXPECT_THAT(process.wait().out, IsEmpty());
}

TEST_F(MonitorCommand, TakesTheStatusOfACommandAndLeavesItsOutputAlone) {
  const Outcome outcome = run(monitor({}, {"sh", "-c", "cat; echo said; exit 7"}), "heard\n");
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_EQ(outcome.out, "heard\nsaid\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("\n0  "), HasSubstr("CPU  ")));
  EXPECT_GE(rows("hw_metrics.csv"), 2U);
  EXPECT_GE(rows("cpu_metrics.csv"), 2U);
}

TEST_F(MonitorCommand, EndsByTheSignalThatKilledTheCommand) {
  const Outcome outcome = run(monitor({"-q"}, {"sh", "-c", "kill -KILL $$"}));
  EXPECT_EQ(outcome.signal(), SIGKILL);
  EXPECT_GE(rows("cpu_metrics.csv"), 2U) << "the files were ended before";
}

TEST_F(MonitorCommand, PassesSignalsOnToTheCommand) {
  Process process(monitor({}, {"sh", "-c", "trap 'exit 5' TERM; echo ready; sleep 60 & wait"}));
  EXPECT_TRUE(process.prints("ready\n"));
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().code(), 5);
}

TEST_F(MonitorCommand, SaysWhatCannotBeExecuted) {
  const Outcome missing = run(monitor({}, {"/nowhere/program"}));
  EXPECT_EQ(missing.code(), kNotFound);
  EXPECT_THAT(missing.err, HasSubstr("wattle monitor: cannot execute /nowhere/program: No such"));
  EXPECT_EQ(run(monitor({}, {"/etc/passwd"})).code(), kNotExecutable);
}

TEST_F(MonitorCommand, RefusesAWrongCommandLine) {
  for (const Words& words :
       {Words{"monitor"}, Words{"monitor", ""}, Words{"monitor", path("out"), "--interval", "0"},
        Words{"monitor", path("out"), "--"}, Words{"monitor", path("out"), "true"},
        Words{"monitor", path("out"), "--gpus", "0,"}}) {
    const Outcome outcome = run(wattle(words));
    EXPECT_EQ(outcome.code(), kUsage) << words.back();
    EXPECT_THAT(outcome.err, StartsWith("wattle monitor: "));
  }
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(MonitorCommand, RecordsTheGpusThatAreSelected) {
  nvml_.set_script("gpu A\npower step 0 100\ngpu A\npower step 0 50\n");
  EXPECT_EQ(run(monitor({"--gpus", "1"}, {"true"})).code(), 0);
  EXPECT_THAT(content_of(path("out") / "hw_samples.csv"),
              AllOf(HasSubstr("nvidia_gpu_1"), Not(HasSubstr("nvidia_gpu_0"))));
  const Outcome outcome = run(monitor({"--gpus", "7"}, {"touch", path("started")}));
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("cannot monitor hardware: no GPU is called '7'"));
  EXPECT_FALSE(std::filesystem::exists(path("started")));
}

TEST_F(MonitorCommand, DoesNotStartTheCommandWhereItCannotWrite) {
  folder_.write("out", "a file");
  const Outcome outcome = run(monitor({}, {"touch", path("started")}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, ContainsRegex("wattle monitor: cannot write .*out"));
  EXPECT_FALSE(std::filesystem::exists(path("started")));
}

TEST_F(MonitorCommand, LetsTheCommandGoOnWhereAFileCannotBeWritten) {
  std::filesystem::create_directory(path("out"));
  std::filesystem::create_symlink("/dev/full", path("out") / "hw_metrics.csv");
  const Outcome outcome = run(monitor({}, {"sh", "-c", "sleep 0.1; exit 3"}));
  EXPECT_EQ(outcome.code(), 3);
  EXPECT_THAT(outcome.err, HasSubstr("hw_metrics.csv: No space left on device"));
  EXPECT_GE(rows("cpu_metrics.csv"), 2U);
}

TEST_F(MonitorCommand, LetsTheCommandGoOnWhereItTakesTheFolderAway) {
  const Outcome outcome =
      run(monitor({}, {"sh", "-c", "rm -rf \"$0\"; sleep 0.1; exit 3", path("out")}));
  EXPECT_EQ(outcome.code(), 3);
  EXPECT_GE(rows("hw_metrics.csv"), 1U) << "it was made again";
}

TEST_F(MonitorCommand, SaysByItsStatusThatRowsAreMissing) {
  std::filesystem::create_directory(path("out"));
  std::filesystem::create_symlink("/dev/full", path("out") / "hw_dmon.csv");
  Process process(monitor({}));
  EXPECT_TRUE(has_rows(2));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().code(), kFailed);
}

TEST_F(MonitorCommand, LeavesTheCommandAndAllRowsWhereItIsKilled) {
  Process process(monitor({}, {"sh", "-c", "echo ready; sleep 0.3; echo done"}));
  EXPECT_TRUE(process.prints("ready\n"));
  EXPECT_TRUE(has_rows(5));
  process.send(SIGKILL);
  (void)process.wait();
  EXPECT_THAT(process.rest_of_output(), HasSubstr("done\n"));
  const Outcome summary = run(wattle({"summary", path("out")}));
  EXPECT_THAT(summary.out, AllOf(HasSubstr("\n0  "), Not(HasSubstr("damaged"))));
}

TEST_F(MonitorCommand, DoesNotMissACounterWhoseEnergyItCalculates) {
  nvml_.set_script("gpu A\npower step 0 100\ncounter none\n");
  const Outcome outcome = run(monitor({}, {"sleep", "0.3"}));
  EXPECT_THAT(outcome.err, HasSubstr("nvidia_gpu_0 energy: no counter, its energy is calculated "
                                     "from its power: "));
  EXPECT_THAT(outcome.err, Not(HasSubstr("not monitored: nvidia_gpu_0")));
}

TEST_F(MonitorCommand, PrintsWhyThereIsNoEnergy) {
  nvml_.set_script("");
  const Outcome outcome = run(monitor({}, {"true"}));
  EXPECT_THAT(outcome.err, Not(HasSubstr("power, W"))) << "no table of nothing";
  EXPECT_THAT(outcome.err, ContainsRegex("\nenergy        unknown\n +no CPU, no DRAM: there is no "
                                         "folder .*nothing\n +no GPU: the driver finds no GPU\n"));
  const Outcome summary = run(wattle({"summary", path("out")}));
  EXPECT_THAT(summary.out, HasSubstr("no CPU, no DRAM: there is no folder "));
}

TEST_F(MonitorCommand, SaysWhereThereIsNothingToMonitor) {
  constexpr int kNothing = 2;
  Process process(wattle({"monitor", path("out"), "--sysfs", path("nothing"), "--procfs",
                          path("nothing"), "--nvml-library", "/nowhere.so"}));
  // It says so at once: nobody has to end it.
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), kNothing);
  EXPECT_THAT(outcome.err, HasSubstr("cannot monitor hardware: nothing here can be read"));
  const Outcome around =
      run(wattle({"monitor", path("out"), "--sysfs", path("nothing"), "--procfs", path("nothing"),
                  "--nvml-library", "/nowhere.so", "--", "sh", "-c", "exit 3"}));
  EXPECT_EQ(around.code(), 3) << "the command runs all the same";
}

TEST_F(MonitorCommand, WritesPointsUnderAGermanLocale) {
  const Outcome made =
      run({.command = {"localedef", "-i", "de_DE", "-f", "UTF-8", path("de_DE.UTF-8")}});
  const Environment german = {{"LOCPATH", folder_.path()}, {"LC_ALL", "de_DE.UTF-8"}};
  const Outcome number = run({.command = {"env", "printf", "%.1f", "1,5"}, .environment = german});
  if (number.out != "1,5") GTEST_SKIP() << "no German locale can be made: " << made.err;
  Start start = monitor({}, {"true"});
  start.environment.insert(german.begin(), german.end());
  const Outcome outcome = run(start);
  EXPECT_THAT(outcome.err, HasSubstr("100.0"));
  EXPECT_THAT(content_of(path("out") / "hw_metrics.csv"), HasSubstr(", 100.00, "));
}

}  // namespace
}  // namespace wattle::integration
