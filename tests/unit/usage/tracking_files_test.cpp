// The files that a tracker writes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/file.hpp"
#include "fakes/file_size_limit.hpp"
#include "tracked_machine.hpp"
#include "usage/files/tracking_table.hpp"
#include "usage/files/usage_files.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class TrackingFiles : public TrackedMachine {
 protected:
  void sample(UsageObservation& tracking) {
    clock_.advance(1s);
    EXPECT_TRUE(tracking.sample());
  }
  [[nodiscard]] std::string content(const char* name) const {
    return read_file(path(name).string()).value_or("");
  }
  [[nodiscard]] std::uint64_t ticks_in(const char* name) const {
    return recovered(content(name), name).ticks;
  }
  [[nodiscard]] std::ptrdiff_t names_beginning_with(std::string_view begin) const {
    const std::filesystem::directory_iterator all(files_.folder().path());
    return std::ranges::count_if(all, [&](const auto& entry) {
      return entry.path().filename().string().starts_with(begin);
    });
  }
};

TEST_F(TrackingFiles, WritesARowEachLook) {
  options_.tracking_file = path("rows.csv");
  files_.put({.pid = 100, .rss_kib = 800, .children = {101}});
  files_.put({.pid = 101, .parent = 100});
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  for (int i = 1; i <= 3; ++i) {
    clock_.advance(1s);
    files_.put({.pid = 100,
                .user = static_cast<std::uint64_t>(50 * i),
                .rss_kib = 800,
                .children = {101}});
    tracking.sample();
  }
  tracking.end();
  std::istringstream lines(read_file(path("rows.csv").string()).value_or(""));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), 3U + 4);
  EXPECT_EQ(rows[0], header_names());
  EXPECT_THAT(rows[1], StartsWith("bytes,gigabytes,seconds,1024000000,,2,2,,0"));
  EXPECT_EQ(rows[2], row_names());
  EXPECT_EQ(std::ranges::count(rows[2], ','), 21);
  for (std::size_t i = 3; i < rows.size(); ++i) {
    EXPECT_EQ(std::ranges::count(rows[i], ','), 21) << rows[i];
  }
  EXPECT_THAT(rows[3], AllOf(StartsWith("819200,307200,614400,409600000,"), HasSubstr(",1,1,2,"),
                             HasSubstr(",50,25,0,0,50,25,")));
}

TEST_F(TrackingFiles, LeavesACellEmptyWhereOnlyABoundIsKnown) {
  options_.tracking_file = path("rows.csv");
  files_.put({.pid = 100, .rss_kib = 800, .children = {101}});
  files_.put({.pid = 101, .parent = 100, .pss_kib = 0});
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  tracking.end();
  const std::string rows = read_file(path("rows.csv").string()).value_or("");
  EXPECT_THAT(rows, HasSubstr("\n819200,,,409600000,")) << "and not 800 + 400 KiB";
}

/// Everything that sqlite3, the program, prints for this.
std::string asked(const std::filesystem::path& database, const std::string& sql) {
  const std::string command = "python3 -c 'import sqlite3, sys\nfor row in sqlite3.connect(\"" +
                              database.string() + "\").execute(\"" + sql +
                              "\"): print(*row, sep=\"|\")'";
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  ::pclose(pipe);
  return output;
}

TEST_F(TrackingFiles, WritesSqliteWhereTheNameSaysSo) {
  options_.tracking_file = path("rows.sqlite");
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  sample(tracking);
  sample(tracking);
  EXPECT_EQ(asked(path("rows.sqlite"), "select main_ram, gpu_sum_utilization_percent from data"),
            "409600.0|None\n409600.0|None\n")
      << "each row is there at once, gpu_tracker's names, unknown is null";
  EXPECT_EQ(asked(path("rows.sqlite"),
                  "select ram_unit, time_unit, ram_system_capacity, system_core_count "
                  "from static_data"),
            "bytes|seconds|1024000000.0|2.0\n");
  tracking.end();
  EXPECT_EQ(names_beginning_with("rows.sqlite"), 1) << "no journal";
}

TEST_F(TrackingFiles, ReplacesADatabaseOnlyIfAsked) {
  files_.folder().write("rows.sqlite", "precious");
  options_.tracking_file = path("rows.sqlite");
  EXPECT_THAT(message(), HasSubstr("it exists"));
  EXPECT_EQ(content("rows.sqlite"), "precious");
  options_.overwrite = true;
  EXPECT_EQ(message(), "");
  EXPECT_THAT(content("rows.sqlite"), StartsWith("SQLite format 3"));
}

TEST_F(TrackingFiles, RemovesItsUsageFileOnlyWhenAllWentWell) {
  options_.resource_usage_file = path("usage.jsonl");
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.sample();
  EXPECT_EQ(ticks_in("usage.jsonl"), 1U);
  clock_.advance(1s);
  tracking.sample();
  EXPECT_EQ(ticks_in("usage.jsonl"), 2U);
  tracking.end();
  EXPECT_FALSE(std::filesystem::exists(path("usage.jsonl")));
}

TEST_F(TrackingFiles, KeepAUsageFileInTheStateFolderUnlessItIsNamed) {
  const std::string before = std::getenv("XDG_STATE_HOME") ? std::getenv("XDG_STATE_HOME") : "";
  ::setenv("XDG_STATE_HOME", path("state").c_str(), 1);
  options_.resource_usage_file.reset();
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  sample(tracking);
  const std::filesystem::directory_iterator files(path("state/wattle/usage"));
  ASSERT_EQ(std::distance(begin(files), end(files)), 1);
  const auto file = std::filesystem::directory_iterator(path("state/wattle/usage"))->path();
  EXPECT_DOUBLE_EQ(recover_usage(file).compute_time.time, 1.0) << "as after a crash";
  tracking.end();
  EXPECT_FALSE(std::filesystem::exists(file)) << "removed at a clean end";
  ::setenv("XDG_STATE_HOME", before.c_str(), 1);
}

TEST_F(TrackingFiles, HoldARecordBeforeTheFirstLook) {
  options_.resource_usage_file = path("usage.jsonl");
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  EXPECT_EQ(ticks_in("usage.jsonl"), 0U);
}

TEST_F(TrackingFiles, AreNotOneFileUnderTwoNames) {
  options_.tracking_file = path("rows.csv");
  options_.resource_usage_file = path(".") / "rows.csv";
  options_.overwrite = true;
  EXPECT_THROW((void)observe_process(options_, clock_), InvalidArgument);
  EXPECT_TRUE(std::filesystem::exists(path("rows.csv")));
}

TEST_F(TrackingFiles, ReportThatTheyWereRemoved) {
  options_.tracking_file = path("rows.csv");
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  std::filesystem::remove(path("rows.csv"));
  clock_.advance(1s);
  EXPECT_TRUE(tracking.sample());
  ASSERT_TRUE(tracking.failure());
  EXPECT_EQ(tracking.failure()->error_number(), ENOENT);
}

TEST_F(TrackingFiles, RemovesNoPipeThatWasGivenAsUsageFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Fd reader = open_for_reading(path("pipe").string());
  options_.resource_usage_file = path("pipe");
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.end();
  EXPECT_FALSE(tracking.failure());
  EXPECT_TRUE(std::filesystem::exists(path("pipe")));
}

TEST_F(TrackingFiles, GoesOnWhereAPipesReaderHasGone) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  Fd reader(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  options_.resource_usage_file = path("pipe");
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  reader = Fd();
  clock_.advance(1s);
  EXPECT_TRUE(tracking.sample());
  ASSERT_TRUE(tracking.failure()) << "and not the end of the process";
  EXPECT_EQ(tracking.failure()->error_number(), EPIPE);
}

TEST_F(TrackingFiles, GoesOnWhereTheDiskIsFull) {
  options_.resource_usage_file = "/dev/full";
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  EXPECT_TRUE(tracking.sample());
  ASSERT_TRUE(tracking.failure());
  EXPECT_EQ(tracking.failure()->error_number(), ENOSPC);
  clock_.advance(1s);
  EXPECT_TRUE(tracking.sample());
  tracking.end();
  EXPECT_DOUBLE_EQ(tracking.usage().compute_time.time, 2.0);
}

TEST_F(TrackingFiles, ReportsAtOnceThatAHeaderCannotBeWritten) {
  options_.tracking_file = "/dev/full";
  EXPECT_THROW((void)observe_process(options_, clock_), WriteError);
  options_.tracking_file = path("none/rows.csv");
  EXPECT_THROW((void)observe_process(options_, clock_), WriteError);
}

TEST_F(TrackingFiles, ReplacesAFileOnlyIfAsked) {
  files_.folder().write("rows.csv", "precious");
  options_.tracking_file = path("rows.csv");
  EXPECT_THAT(message(), HasSubstr("it exists"));
  EXPECT_EQ(read_file(path("rows.csv").string()), "precious");
  options_.overwrite = true;
  EXPECT_EQ(message(), "");
  EXPECT_THAT(read_file(path("rows.csv").string()).value_or(""), StartsWith("ram_unit,"));
}

TEST_F(TrackingFiles, AreGoneWhereTheConstructorFailsSoThatItCanBeTriedAgain) {
  options_.tracking_file = path("rows.csv");
  options_.resource_usage_file = path("none/usage.jsonl");
  EXPECT_THROW((void)observe_process(options_, clock_), WriteError);
  EXPECT_FALSE(std::filesystem::exists(path("rows.csv")));
  options_.resource_usage_file = path("usage.jsonl");
  EXPECT_EQ(message(), "");
}

TEST_F(TrackingFiles, AreGoneWhereTheBeginFails) {
  options_.tracking_file = path("rows.csv");
  options_.resource_usage_file = path("usage.jsonl");
  {
    UsageObservation tracking = observe_process(options_, clock_);
    EXPECT_TRUE(std::filesystem::exists(path("rows.csv")));
    files_.take(100);
    EXPECT_THROW(tracking.begin(), InvalidArgument);
  }
  EXPECT_FALSE(std::filesystem::exists(path("rows.csv")));
  EXPECT_FALSE(std::filesystem::exists(path("usage.jsonl")));
}

TEST_F(TrackingFiles, AreGoneWhereThereIsNoThreadToLookWith) {
  options_.tracking_file = path("rows.csv");
  {
    UsageObservation tracking = observe_process(options_, clock_);
    tracking.begin();
    tracking.abandon();
  }
  EXPECT_FALSE(std::filesystem::exists(path("rows.csv")));
}

TEST_F(TrackingFiles, LoseNothingWhereTheConstructorFails) {
  files_.folder().write("rows.csv", "precious");
  options_.tracking_file = path("rows.csv");
  options_.resource_usage_file = path("none/usage.jsonl");
  options_.overwrite = true;
  EXPECT_THROW((void)observe_process(options_, clock_), WriteError);
  EXPECT_EQ(content("rows.csv"), "precious");
}

TEST_F(TrackingFiles, AreThoseThatALinkLeadsTo) {
  files_.folder().write("real/usage.jsonl", "old");
  std::filesystem::create_symlink("real/usage.jsonl", path("link"));
  options_.resource_usage_file = path("link");
  EXPECT_THAT(message(), HasSubstr("it exists"));
  options_.overwrite = true;
  UsageObservation tracking = observe_process(options_, clock_, 1);
  tracking.begin();
  for (std::size_t ticks = 1; ticks <= 3; ++ticks) {
    sample(tracking);
    EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
    EXPECT_EQ(ticks_in("real/usage.jsonl"), ticks);
  }
  tracking.end();
  EXPECT_FALSE(std::filesystem::exists(path("real/usage.jsonl")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link"))) << "which the user made";
}

TEST_F(TrackingFiles, PutNothingInThePlaceOfAnotherFile) {
  options_.resource_usage_file = path("usage.jsonl");
  UsageObservation tracking = observe_process(options_, clock_, 1);
  tracking.begin();
  std::filesystem::rename(path("usage.jsonl"), path("moved.jsonl"));
  files_.folder().write("usage.jsonl", "precious");
  sample(tracking);
  EXPECT_EQ(ticks_in("moved.jsonl"), 1U);
  tracking.end();
  EXPECT_EQ(content("usage.jsonl"), "precious");
}

TEST_F(TrackingFiles, LoseTheUsageFileNothingWhereTheTrackingFileFails) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  Fd reader(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  options_.tracking_file = path("pipe");
  options_.resource_usage_file = path("usage.jsonl");
  UsageObservation tracking = observe_process(options_, clock_, 1);
  tracking.begin();
  reader = Fd();
  for (std::size_t ticks = 1; ticks <= 3; ++ticks) {
    sample(tracking);
    EXPECT_EQ(ticks_in("usage.jsonl"), ticks);
  }
  tracking.end();
  EXPECT_TRUE(tracking.failure());
  EXPECT_TRUE(std::filesystem::exists(path("usage.jsonl"))) << "not all went well";
}

TEST_F(TrackingFiles, ReplaceAUsageFileThatHasGrown) {
  options_.resource_usage_file = path("usage.jsonl");
  files_.folder().write("usage.jsonl.next", "precious");
  UsageObservation tracking = observe_process(options_, clock_, 1);
  tracking.begin();
  sample(tracking);
  std::filesystem::permissions(path("usage.jsonl"), std::filesystem::perms(0640));
  for (std::size_t ticks = 2; ticks <= 3; ++ticks) {
    sample(tracking);
    const std::string text = content("usage.jsonl");
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
    EXPECT_EQ(ticks_in("usage.jsonl"), ticks);
  }
  EXPECT_EQ(std::filesystem::status(path("usage.jsonl")).permissions(),
            std::filesystem::perms(0640));
  EXPECT_EQ(content("usage.jsonl.next"), "precious");
  tracking.end();
  EXPECT_EQ(names_beginning_with("usage.jsonl"), 1) << "the precious one";
}

TEST_F(TrackingFiles, SayThatAUsageFileCannotBeReplacedAndGoOn) {
  std::string told;
  set_log([&](std::string_view message) { told += message; });
  options_.resource_usage_file = path("usage.jsonl");
  UsageObservation tracking = observe_process(options_, clock_, 1);
  tracking.begin();
  sample(tracking);
  EXPECT_EQ(told, "");
  // A folder of that name cannot be replaced by a file.
  std::filesystem::rename(path("usage.jsonl"), path("moved.jsonl"));
  std::filesystem::create_directory(path("usage.jsonl"));
  sample(tracking);
  set_log({});
  EXPECT_THAT(told, HasSubstr("cannot replace the usage file"));
  EXPECT_FALSE(tracking.failure());
  EXPECT_EQ(ticks_in("moved.jsonl"), 2U) << "no line is lost";
  EXPECT_EQ(names_beginning_with("usage.jsonl"), 1) << "nothing is left behind";
}

TEST_F(TrackingFiles, KeepTheLooksThatFitIntoTheLimitOfFiles) {
  options_.resource_usage_file = path("usage.jsonl");
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  const std::size_t before = content("usage.jsonl").size();
  sample(tracking);
  const std::size_t line = content("usage.jsonl").size() - before;
  {
    const fakes::FileSizeLimit limit(before + 2 * line + line / 2);
    for (int i = 2; i <= 4; ++i) sample(tracking);
  }
  ASSERT_TRUE(tracking.failure()) << "and no SIGXFSZ";
  EXPECT_EQ(tracking.failure()->error_number(), EFBIG);
  EXPECT_EQ(ticks_in("usage.jsonl"), 2U);
  EXPECT_TRUE(content("usage.jsonl").ends_with('\n')) << "no half line";
  tracking.end();
  EXPECT_DOUBLE_EQ(tracking.usage().compute_time.time, 4.0);
}

}  // namespace
}  // namespace wattle
