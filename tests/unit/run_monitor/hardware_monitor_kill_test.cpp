// A monitor that is killed at any instant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "base/files/file.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {
namespace {

using testing::EndsWith;
using testing::StartsWith;

/// How often a monitor is killed.
int kills() {
  const char* const number = std::getenv("MONITOR_KILLS");
  return number != nullptr ? std::atoi(number) : 25;
}

constexpr std::array kFiles = {"hw_metrics.csv", "cpu_metrics.csv", "hw_dmon.csv",
                               "hw_samples.csv"};

std::string content(const std::filesystem::path& path) {
  return read_file(path.string(), std::size_t{64} << 20U).value_or("");
}

[[noreturn]] void monitor_forever(const System& system, const std::filesystem::path& folder) {
  HardwareMonitor monitor({.interval = std::chrono::milliseconds(1), .system = system});
  monitor.start(folder);
  for (;;) ::pause();
}

using Rows = std::array<std::size_t, kFiles.size()>;

/// Whole rows of each file, in the order of kFiles; headers are none.
Rows rows_of(const std::filesystem::path& folder) {
  Rows all{};
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    std::istringstream lines(content(folder / kFiles.at(i)));
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
      const bool is_row = !line.empty() && (line.front() == ' ' || std::isdigit(line.front()) != 0);
      all.at(i) += is_row ? 1 : 0;
    }
  }
  return all;
}

/// Has each file more rows? That of processor time is asked only `with_cpu`: the kernel counts it
/// in 10 ms, and most runs are shorter.
bool has_more(const Rows& before, const Rows& now, bool with_cpu) {
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    const bool counts = with_cpu || std::string_view(kFiles.at(i)) != "cpu_metrics.csv";
    if (counts && now.at(i) < before.at(i) + 2) return false;
  }
  return true;
}

/// Starts a monitor, and kills it after `delay`, whatever it has done by then.
void monitor_for(const System& system, const std::filesystem::path& folder,
                 std::chrono::microseconds delay) {
  const pid_t child = ::fork();
  if (child == 0) monitor_forever(system, folder);
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

/// Starts a monitor, and kills it `delay` after it has written rows into each file; false where it
/// does not.
bool monitor_until_killed(const System& system, const std::filesystem::path& folder,
                          std::chrono::microseconds delay) {
  const Rows before = rows_of(folder);
  const bool is_first = before.front() == 0;
  const pid_t child = ::fork();
  if (child == 0) monitor_forever(system, folder);
  const bool has_begun =
      fakes::eventually([&] { return has_more(before, rows_of(folder), is_first); });
  const auto end = std::chrono::steady_clock::now() + delay;
  while (std::chrono::steady_clock::now() < end) {
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return has_begun;
}

TEST(HardwareMonitorKill, LeavesEveryRowThatWasWritten) {
  fakes::FakeNvml nvml("gpu A\nutilization 80 30\npower step 0 100\ngpu B\nutilization 80 30\n");
  nvml.let_time_pass();
  System system = nvml.system();
  system.procfs = "/proc";
  const fakes::TempFolder folder;
  std::mt19937 random(1);  // NOLINT: the same instants each time, as far as the machine allows
  std::uniform_int_distribution<int> delay_us(0, 15'000);
  std::array<std::string, kFiles.size()> before;
  for (int run = 0; run < kills(); ++run) {
    monitor_for(system, folder.path(), std::chrono::microseconds(delay_us(random)));
    ASSERT_TRUE(
        monitor_until_killed(system, folder.path(), std::chrono::microseconds(delay_us(random))));
    for (std::size_t i = 0; i < kFiles.size(); ++i) {
      std::string now = content(folder.path() / kFiles.at(i));
      // A half line at the end may only be that of the run that was killed last.
      ASSERT_THAT(now, StartsWith(before.at(i).substr(0, before.at(i).rfind('\n') + 1)));
      before.at(i) = std::move(now);
    }
  }
  {
    HardwareMonitor({.system = system}).start(folder.path());
  }  // takes away what the last one left

  for (const char* file : kFiles) EXPECT_THAT(content(folder.path() / file), EndsWith("\n"));
  const ResourceSummary summary =
      build_resource_summary(folder.path() / "hw_metrics.csv", folder.path() / "cpu_metrics.csv",
                             folder.path() / "hw_dmon.csv");
  for (const SummaryFile& file : summary.files) {
    EXPECT_EQ(file.bad_rows, 0U) << file.path;
    const bool is_cpu = file.path.filename() == "cpu_metrics.csv";
    EXPECT_GE(file.rows, is_cpu ? 1U : 2U * static_cast<std::size_t>(kills())) << file.path;
  }
  EXPECT_EQ(summary.gpu_util_mean_pct, 80.0);
  EXPECT_EQ(summary.gpus.size(), 2U);
}

}  // namespace
}  // namespace wattle
