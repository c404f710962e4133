// What holds for every option that names a file to write: whose file it is, who may read it, and
// that nobody is waited for.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <ostream>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

/// One way to have a file written.
struct OutputOption {
  const char* name;
  /// The command line without the file's path, which comes last.
  Words words;
  const char* file;      ///< below the test's folder
  bool is_series;        ///< tells something of each moment
  const char* argument;  ///< what is given as path; empty: `file`

  friend std::ostream& operator<<(std::ostream& stream, const OutputOption& option) {
    return stream << option.name;
  }
};

std::vector<OutputOption> output_options() {
  const Words track = {"track", "--duration", "0.05", "--sleep-time", "0.01"};
  return {
      {"RunReport", {"run", "-o"}, "out", false, ""},
      {"RunReportExtended", {"run", "--append", "-o"}, "out", false, ""},
      {"RunJson", {"run", "--json"}, "out", false, ""},
      {"RunJsonExtended", {"run", "--append", "--json"}, "out", false, ""},
      {"RunPage", {"run", "--html"}, "out", false, ""},
      {"RunSeries", {"run", "--series"}, "out", true, ""},
      {"RunSeriesExtended", {"run", "--append", "--series"}, "out", true, ""},
      {"RunUnits", {"run", "--units"}, "out", true, ""},
      {"RunUnitsExtended", {"run", "--append", "--units"}, "out", true, ""},
      {"RunRows", {"run", "--tracking-file"}, "out.csv", true, ""},
      {"RunDatabase", {"run", "--tracking-file"}, "out.sqlite", true, ""},
      {"RunUsage", {"run", "--usage-file"}, "out", true, ""},
      {"TrackJson", track + Words{"--json"}, "out", false, ""},
      {"TrackRows", track + Words{"--overwrite", "--tracking-file"}, "out.csv", true, ""},
      {"TrackDatabase", track + Words{"--overwrite", "--tracking-file"}, "out.sqlite", true, ""},
      {"TrackUsage", track + Words{"--overwrite", "--usage-file"}, "out", true, ""},
      {"MonitorSamples", {"monitor"}, "shared/hw_samples.csv", true, "shared"},
      {"MonitorCpus", {"monitor"}, "shared/cpu_metrics.csv", true, "shared"},
  };
}

class EveryOutputOption : public CommandTest, public testing::WithParamInterface<OutputOption> {
 protected:
  EveryOutputOption() { fs::create_directory(path("shared")); }

  [[nodiscard]] fs::path file() const { return path(GetParam().file); }
  /// A command that leaves a trace where it runs; nothing of the machine's devices is seen.
  [[nodiscard]] Start start() const {
    const OutputOption& option = GetParam();
    const Words around = {"--sysfs", path("none"), "--nvml-library", path("none.so")};
    const std::string given =
        path(*option.argument == '\0' ? option.file : option.argument).string();
    Words words = Words{option.words.front()} + around;
    if (option.words.front() == "track") words = words + Words{"--pid", std::to_string(::getpid())};
    words.insert(words.end(), option.words.begin() + 1, option.words.end());
    words.push_back(given);
    if (option.words.front() != "track") words = words + Words{"--", "touch", path("ran")};
    return wattle(words);
  }
  /// It said why, and did not begin.
  void expect_refused(const Outcome& outcome, const std::string& why) const {
    EXPECT_EQ(outcome.code(), kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("cannot write"));
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_FALSE(fs::exists(path("ran")));
  }
};

TEST_P(EveryOutputOption, WaitsForNoReaderOfAFifo) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  expect_refused(run(start()), "it is a pipe or a socket that nobody reads from");
}

TEST_P(EveryOutputOption, FollowsNoLinkOfAnotherUserInASharedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  folder_.write("precious", "precious");
  fs::create_symlink(path("precious"), file());
  ASSERT_EQ(::chmod(file().parent_path().c_str(), 01777), 0);
  ASSERT_EQ(::lchown(file().c_str(), kNobody, kNobody), 0);
  expect_refused(run(start()), "Permission denied");
  EXPECT_EQ(content_of(path("precious")), "precious");
}

TEST_P(EveryOutputOption, ShowsWhatHappenedWhenToTheOwnerAlone) {
  Start start = this->start();
  start.prepare = [] { ::umask(0022); };
  // A usage file stays only where it is needed.
  if (std::string_view(GetParam().name).ends_with("Usage")) {
    std::erase(start.command, "--duration");
    std::erase(start.command, "0.05");
    std::ranges::replace(start.command, "touch", "sleep");
    std::ranges::replace(start.command, path("ran").string(), "20");
    Process tracker(start);
    ASSERT_TRUE(eventually([&] { return fs::exists(file()); }));
    tracker.send(SIGKILL);
    (void)tracker.wait();
  } else {
    const Outcome outcome = run(start);
    ASSERT_EQ(outcome.code(), 0) << outcome.err;
  }
  EXPECT_EQ(fs::status(file()).permissions(),
            GetParam().is_series ? fs::perms{0600} : fs::perms{0644});
}

INSTANTIATE_TEST_SUITE_P(Options, EveryOutputOption, testing::ValuesIn(output_options()),
                         [](const auto& option) { return std::string(option.param.name); });

using KilledTracker = CommandTest;

TEST_F(KilledTracker, LeavesTheReportThatWasThere) {
  folder_.write("report", "of the run before\n");
  Process process(wattle_track(::getpid(), {"--sleep-time", "0.01", "--json", path("report"),
                                            "--tracking-file", path("rows")}));
  ASSERT_TRUE(
      eventually([&] { return fs::exists(path("rows")) && fs::file_size(path("rows")) > 0; }));
  process.send(SIGKILL);
  (void)process.wait();
  EXPECT_EQ(content_of(path("report")), "of the run before\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2);
}

}  // namespace
}  // namespace wattle::integration
