#include "usage/tracking.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "fakes/process_files.hpp"
#include "fakes/virtual_clock.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

/// Process 100 of a machine of files, without GPUs.
class TrackingTest : public testing::Test {
 protected:
  TrackingTest() {
    files_.put({.pid = 100});
    files_.folder().write("stat", "cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 0\ncpu1 0\nintr 0\n");
    files_.folder().write("meminfo", "MemTotal: 1000000 kB\nMemAvailable: 600000 kB\n");
    options_.process_id = 100;
    options_.system = files_.system();
    options_.system.sysfs = files_.folder().path() / "sys";
    options_.system.nvml_library = (files_.folder().path() / "none.so").string();
    options_.time_unit = "seconds";
    options_.ram_unit = "bytes";
  }
  [[nodiscard]] std::filesystem::path path(const char* name) const {
    return files_.folder().path() / name;
  }
  [[nodiscard]] std::string message() const {
    try {
      const Tracking tracking(options_, clock_);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  }

  fakes::ProcessFiles files_;
  fakes::VirtualClock clock_;
  TrackerOptions options_;
};

TEST_F(TrackingTest, ReadsAPeriodicLoadAtAnyPhase) {
  for (const auto phase : {0ms, 100ms, 250ms, 300ms, 650ms, 990ms}) {
    files_.put({.pid = 100});
    Tracking tracking(options_, clock_);
    // Busy in the first 300 ms of each second.
    const auto busy_until = [&](std::chrono::milliseconds time) {
      return time / 1s * 300ms + std::min(time % 1s, 300ms);
    };
    tracking.begin();
    const auto before = busy_until(phase);
    for (auto time = 1s; time <= 20s; time += 1s) {
      clock_.advance(1s);
      files_.put({.pid = 100,
                  .user = static_cast<std::uint64_t>((busy_until(phase + time) - before) / 10ms)});
      EXPECT_TRUE(tracking.look());
    }
    tracking.end();
    const ProcessingUnitPercentages main = tracking.usage().cpu_utilization.main;
    EXPECT_NEAR(main.mean_sum_percent.value_or(0), 30.0, 1.0) << phase.count();
    EXPECT_NEAR(main.max_sum_percent.value_or(0), 30.0, 1.0) << phase.count();
    EXPECT_NEAR(main.mean_hardware_percent.value_or(0), 15.0, 0.5);
  }
}

TEST_F(TrackingTest, TellsTheTimeOfTheRegionWhateverThePeriod) {
  for (const double period_s : {0.1, 1.0, 5.0}) {
    options_.sleep_time = Seconds(period_s);
    Tracking tracking(options_, clock_);
    tracking.begin();
    clock_.advance(950ms);
    tracking.end();
    EXPECT_DOUBLE_EQ(tracking.usage().compute_time.time, 0.95);
  }
}

TEST_F(TrackingTest, EndsTheTimeWhereTheProcessEnds) {
  Tracking tracking(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  files_.take(100);
  EXPECT_FALSE(tracking.look());
  clock_.advance(1h);
  EXPECT_FALSE(tracking.look());
  tracking.end();
  EXPECT_DOUBLE_EQ(tracking.usage().compute_time.time, 1.0);
}

TEST_F(TrackingTest, LeavesOutWhatTrackersOfThisProcessTake) {
  options_.process_id = ::getpid();
  options_.system.procfs = "/proc";
  Tracking tracking(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.look({.cpu = 1h, .threads = 0});
  tracking.end({.cpu = 1h, .threads = 1000});
  EXPECT_EQ(tracking.usage().cpu_utilization.main.mean_sum_percent, 0.0);
}

TEST_F(TrackingTest, CountsMemoryInItsUnit) {
  files_.put({.pid = 100, .rss_kib = 1024, .private_kib = 512});
  Tracking tracking(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.end();
  const MaxRAM ram = tracking.usage().max_ram;
  EXPECT_EQ(ram.main.total_rss, 1048576.0) << "bytes: a MiB is no MB";
  EXPECT_EQ(ram.main.private_rss, 524288.0);
  EXPECT_EQ(ram.system_capacity, 1024e6);
  EXPECT_EQ(ram.system, 409.6e6);
  options_.ram_unit = "megabytes";
  Tracking other(options_, clock_);
  other.begin();
  other.end();
  EXPECT_DOUBLE_EQ(other.usage().max_ram.main.total_rss.value_or(0), 1.048576);
}

TEST_F(TrackingTest, WritesARowEachLook) {
  options_.tracking_file = path("rows.csv");
  files_.put({.pid = 100, .rss_kib = 800, .children = {101}});
  files_.put({.pid = 101, .parent = 100});
  Tracking tracking(options_, clock_);
  tracking.begin();
  for (int i = 1; i <= 3; ++i) {
    clock_.advance(1s);
    files_.put({.pid = 100,
                .user = static_cast<std::uint64_t>(50 * i),
                .rss_kib = 800,
                .children = {101}});
    tracking.look();
  }
  tracking.end();
  std::istringstream lines(read_file(path("rows.csv").string()).value_or(""));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), 3U + 4);
  EXPECT_EQ(rows[0], static_columns());
  EXPECT_THAT(rows[1], StartsWith("bytes,gigabytes,seconds,1024000000,0,2,2,"));
  EXPECT_EQ(rows[2], sample_columns());
  EXPECT_EQ(std::ranges::count(rows[2], ','), 21);
  for (std::size_t i = 3; i < rows.size(); ++i) {
    EXPECT_EQ(std::ranges::count(rows[i], ','), 21) << rows[i];
  }
  EXPECT_THAT(rows[3], AllOf(StartsWith("819200,307200,614400,409600000,"), HasSubstr(",1,1,2,"),
                             HasSubstr(",50,25,0,0,50,25,")));
}

TEST_F(TrackingTest, RemovesItsUsageFileOnlyWhenAllWentWell) {
  options_.resource_usage_file = path("usage.jsonl");
  Tracking tracking(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.look();
  EXPECT_EQ(recover_usage(path("usage.jsonl")).ticks, 1U);
  clock_.advance(1s);
  tracking.look();
  EXPECT_EQ(recover_usage(path("usage.jsonl")).ticks, 2U);
  tracking.end();
  EXPECT_FALSE(std::filesystem::exists(path("usage.jsonl")));
}

TEST_F(TrackingTest, RemovesNoPipeThatWasGivenAsUsageFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Fd reader = open_for_reading(path("pipe").string());
  options_.resource_usage_file = path("pipe");
  Tracking tracking(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.end();
  EXPECT_FALSE(tracking.failure());
  EXPECT_TRUE(std::filesystem::exists(path("pipe")));
}

TEST_F(TrackingTest, GoesOnWhereAPipesReaderHasGone) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  Fd reader(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  options_.resource_usage_file = path("pipe");
  Tracking tracking(options_, clock_);
  tracking.begin();
  reader = Fd();
  clock_.advance(1s);
  EXPECT_TRUE(tracking.look());
  ASSERT_TRUE(tracking.failure()) << "and not the end of the process";
  EXPECT_EQ(tracking.failure()->error_number, EPIPE);
}

TEST_F(TrackingTest, GoesOnWhereTheDiskIsFull) {
  options_.resource_usage_file = "/dev/full";
  Tracking tracking(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  EXPECT_TRUE(tracking.look());
  ASSERT_TRUE(tracking.failure());
  EXPECT_EQ(tracking.failure()->error_number, ENOSPC);
  clock_.advance(1s);
  EXPECT_TRUE(tracking.look());
  tracking.end();
  EXPECT_DOUBLE_EQ(tracking.usage().compute_time.time, 2.0);
}

TEST_F(TrackingTest, TellsAtOnceThatAHeaderCannotBeWritten) {
  options_.tracking_file = "/dev/full";
  EXPECT_THROW(Tracking(options_, clock_), WriteError);
  options_.tracking_file = path("none/rows.csv");
  EXPECT_THROW(Tracking(options_, clock_), WriteError);
}

TEST_F(TrackingTest, ReplacesAFileOnlyWhereItIsTold) {
  files_.folder().write("rows.csv", "precious");
  options_.tracking_file = path("rows.csv");
  EXPECT_THAT(message(), HasSubstr("it exists"));
  EXPECT_EQ(read_file(path("rows.csv").string()), "precious");
  options_.overwrite = true;
  EXPECT_EQ(message(), "");
  EXPECT_THAT(read_file(path("rows.csv").string()).value_or(""), StartsWith("ram_unit,"));
}

TEST_F(TrackingTest, ListsWhatIsValid) {
  const TrackerOptions good = options_;
  options_.ram_unit = "gigabyte";
  EXPECT_THAT(message(), HasSubstr("valid RAM unit. Valid values are bytes, gigabytes"));
  options_ = good;
  options_.gpu_ram_unit = "GB";
  EXPECT_THAT(message(), HasSubstr("valid GPU RAM unit"));
  options_ = good;
  options_.time_unit = "h";
  EXPECT_THAT(message(), HasSubstr("Valid values are days, hours, minutes, seconds"));
  options_ = good;
  options_.gpu_brand = "intel";
  EXPECT_THAT(message(), HasSubstr("Valid values are amd, nvidia"));
  options_ = good;
  options_.gpu_uuids = std::set<std::string>{};
  EXPECT_THAT(message(), HasSubstr("empty"));
  options_.gpu_uuids = std::set<std::string>{"GPU-x"};
  EXPECT_THAT(message(), HasSubstr("no GPU with the UUID \"GPU-x\""));
  options_ = good;
  options_.n_expected_cores = 0;
  EXPECT_THAT(message(), HasSubstr("at least 1"));
}

TEST_F(TrackingTest, TakesAPeriodFromAHundredthOfASecond) {
  for (const double wrong : {0.0, 0.0099, -1.0, 1e9, std::nan("")}) {
    options_.sleep_time = Seconds(wrong);
    EXPECT_THAT(message(), HasSubstr("from 0.01 to")) << wrong;
  }
  options_.sleep_time = Seconds(0.01);
  EXPECT_EQ(message(), "");
}

TEST_F(TrackingTest, RefusesAProcessThatIsNotThere) {
  for (const int wrong : {4711, 0, -1}) {
    options_.process_id = wrong;
    EXPECT_THAT(message(), HasSubstr("there is no such process")) << wrong;
  }
}

}  // namespace
}  // namespace wattle
