#include "usage/machine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kStat =
    "cpu  1000 200 300 5000 400 50 60 70 500 100\n"
    "cpu0 500 100 150 2500 200 25 30 35 250 50\n"
    "cpu1 500 100 150 2500 200 25 30 35 250 50\n"
    "intr 634866 0 0\n"
    "ctxt 1038003\n";

TEST(CpuTimes, SumsWhatProcessorsDid) {
  const auto times = parse_cpu_times(kStat);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, 1000U + 200 + 300 + 50 + 60) << "neither idle nor waiting nor stolen";
  EXPECT_EQ(times->total, 1000U + 200 + 300 + 5000 + 400 + 50 + 60 + 70);
  EXPECT_EQ(times->processors, 2U);
}

TEST(CpuTimes, CountGuestsOnce) {
  // 500 and 100 of the line above are in user and nice already.
  const auto without = parse_cpu_times("cpu  1000 200 300 5000 400 50 60 70 0 0\nintr 0\n");
  EXPECT_EQ(parse_cpu_times(kStat)->busy, without->busy);
  EXPECT_EQ(parse_cpu_times(kStat)->total, without->total);
}

TEST(CpuTimes, OfOldKernelsHaveFewerFields) {
  const auto times = parse_cpu_times("cpu  10 20 30 40\ncpu0 10 20 30 40\nintr 0\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, 60U);
  EXPECT_EQ(times->total, 100U);
}

TEST(CpuTimes, CountProcessorsWithGapsInTheirNumbers) {
  EXPECT_EQ(parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu7 1\ncpu113 1\nintr 0\n")->processors, 3U);
}

TEST(CpuTimes, DoNotCountProcessorsInATextThatIsCutOff) {
  const auto times = parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu1 1\ncpu");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->processors, 0U) << "there may be more of them";
  EXPECT_EQ(parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu1 1\n")->processors, 0U);
  EXPECT_EQ(parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu1 1\nin")->processors, 2U) << "all seen";
}

TEST(CpuTimes, AreAbsentInGarbage) {
  for (const char* text : {"", "\n", "cpu", "cpu \n", "cpu 1 2 3\n", "cpu0 1 2 3 4\n",
                           "cpu a b c d\n", "cpu 1 2 3 -4\n", "cpu 1 2 3 99999999999999999999\n",
                           "cpu 1 2 3 4 x\n", "intr 1 2 3 4\ncpu 1 2 3 4\n"}) {
    EXPECT_FALSE(parse_cpu_times(text)) << text;
  }
}

TEST(CpuTimes, SumOfGarbageDoesNotWrapAround) {
  const auto times = parse_cpu_times("cpu 18446744073709551615 18446744073709551615 1 1\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(times->total, std::numeric_limits<std::uint64_t>::max());
}

TEST(MemoryState, IsTotalMinusWhatCouldBeHad) {
  const auto memory = parse_memory(
      "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:   12000000 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 16'000'000ULL * 1024);
  EXPECT_EQ(memory->used_bytes, 4'000'000ULL * 1024);
}

TEST(MemoryState, IsNeverNegative) {
  EXPECT_EQ(parse_memory("MemTotal: 10 kB\nMemAvailable: 11 kB\n")->used_bytes, 0U);
}

TEST(MemoryState, IsAbsentWhereAPartIsMissing) {
  for (const char* text :
       {"", "MemTotal: 10 kB\n", "MemAvailable: 10 kB\n", "MemTotal: 10 kB\nMemFree: 5 kB\n",
        "MemTotal: x kB\nMemAvailable: 1 kB\n", "MemTotal:\nMemAvailable: 1 kB\n",
        "MemTotal: -1 kB\nMemAvailable: 1 kB\n",
        "MemTotal: 18446744073709551615 kB\nMemAvailable: 1 kB\n"}) {
    EXPECT_FALSE(parse_memory(text)) << text;
  }
}

/// A procfs of two processors that the test writes.
class MachineMonitorTest : public testing::Test {
 protected:
  void set_cpu(std::uint64_t busy, std::uint64_t idle, int processors = 2) {
    std::string text =
        "cpu  " + std::to_string(busy) + " 0 0 " + std::to_string(idle) + " 0 0 0 0\n";
    for (int i = 0; i < processors; ++i) text += "cpu" + std::to_string(i) + " 1 2 3 4 5 6 7 8\n";
    folder_.write("stat", text + "intr 1 2 3\n");
  }
  void set_memory(std::uint64_t total_kib, std::uint64_t available_kib) {
    folder_.write("meminfo", "MemTotal: " + std::to_string(total_kib) +
                                 " kB\nMemAvailable: " + std::to_string(available_kib) + " kB\n");
  }
  MachineMonitor start() {
    System system;
    system.procfs = folder_.path();
    return MachineMonitor(system);
  }

  fakes::TempFolder folder_;
  TimePoint begin_{1h};
};

TEST_F(MachineMonitorTest, GivesTheMeanFromTheFirstSampleToTheLast) {
  set_cpu(1000, 9000);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  set_cpu(1150, 9050);
  monitor.sample(begin_ + 1s);
  const MachineUsage usage = monitor.usage();
  EXPECT_EQ(usage.processors, 2U);
  EXPECT_DOUBLE_EQ(usage.mean_cpu_percent.value(), 150.0) << "three quarters of two processors";
}

TEST_F(MachineMonitorTest, GivesTheHighestMeanOfASecond) {
  set_cpu(0, 0);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  set_cpu(20, 180);
  monitor.sample(begin_ + 1s);
  set_cpu(200, 200);
  monitor.sample(begin_ + 2s);
  set_cpu(210, 390);
  monitor.sample(begin_ + 3s);
  EXPECT_DOUBLE_EQ(monitor.usage().max_cpu_percent.value(), 180.0);
}

TEST_F(MachineMonitorTest, TakesNoPeakFromLessThanASecond) {
  set_cpu(0, 0);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  set_cpu(10, 0);
  monitor.sample(begin_ + 100ms);
  set_cpu(10, 190);
  monitor.sample(begin_ + 1s);
  set_cpu(20, 380);
  monitor.sample(begin_ + 2s);
  EXPECT_DOUBLE_EQ(monitor.usage().max_cpu_percent.value(), 10.0);
}

TEST_F(MachineMonitorTest, HasNoPeakUnderTwoSeconds) {
  set_cpu(0, 0);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  set_cpu(100, 100);
  monitor.sample(begin_ + 1s);
  EXPECT_EQ(monitor.usage().max_cpu_percent, std::nullopt);
}

TEST_F(MachineMonitorTest, BearsCountersThatFall) {
  // Waiting for I/O is known to fall, and with it the sum.
  set_cpu(1000, 9000);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  set_cpu(990, 9200);
  monitor.sample(begin_ + 1s);
  EXPECT_EQ(monitor.usage().mean_cpu_percent, 0.0) << "busy fell a little, time passed";
  set_cpu(900, 8000);
  monitor.sample(begin_ + 2s);
  EXPECT_EQ(monitor.usage().mean_cpu_percent, std::nullopt) << "no time passed";
}

TEST_F(MachineMonitorTest, HasNoPeakWhereNoTimePassed) {
  set_cpu(1000, 9000);
  MachineMonitor monitor = start();
  for (int i = 0; i < 5; ++i) monitor.sample(begin_ + i * 1s);
  EXPECT_EQ(monitor.usage().mean_cpu_percent, std::nullopt);
  EXPECT_EQ(monitor.usage().max_cpu_percent, std::nullopt) << "unknown, not 0";
}

TEST_F(MachineMonitorTest, CountsTheProcessorsOfALargeMachine) {
  constexpr int kProcessors = 2048;
  set_cpu(1000, 9000, kProcessors);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  set_cpu(1100, 9100, kProcessors);
  monitor.sample(begin_ + 1s);
  EXPECT_EQ(monitor.usage().processors, 2048U);
  EXPECT_DOUBLE_EQ(monitor.usage().mean_cpu_percent.value(), 102'400.0);
}

TEST_F(MachineMonitorTest, RemembersTheMostMemoryUsed) {
  set_memory(1000, 800);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  set_memory(1000, 300);
  monitor.sample(begin_ + 1s);
  set_memory(1000, 900);
  monitor.sample(begin_ + 2s);
  EXPECT_EQ(monitor.usage().memory_total_bytes, 1000U * 1024);
  EXPECT_EQ(monitor.usage().peak_memory_used_bytes, 700U * 1024);
}

TEST_F(MachineMonitorTest, KnowsNothingWithoutFiles) {
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  monitor.sample(begin_ + 1s);
  const MachineUsage usage = monitor.usage();
  EXPECT_EQ(usage.processors, std::nullopt);
  EXPECT_EQ(usage.mean_cpu_percent, std::nullopt);
  EXPECT_EQ(usage.max_cpu_percent, std::nullopt);
  EXPECT_EQ(usage.memory_total_bytes, std::nullopt);
  EXPECT_EQ(usage.peak_memory_used_bytes, std::nullopt);
}

TEST_F(MachineMonitorTest, SkipsSamplesOfGarbage) {
  set_cpu(0, 0);
  set_memory(1000, 500);
  MachineMonitor monitor = start();
  monitor.sample(begin_);
  folder_.write("stat", "garbage\n");
  folder_.write("meminfo", "");
  monitor.sample(begin_ + 1s);
  set_cpu(100, 100);
  monitor.sample(begin_ + 2s);
  EXPECT_DOUBLE_EQ(monitor.usage().mean_cpu_percent.value(), 100.0);
  EXPECT_EQ(monitor.usage().peak_memory_used_bytes, 500U * 1024);
}

TEST(MachineMonitor, ReadsARecordedMachine) {
  System system;
  system.procfs = std::filesystem::path(WATTLE_FIXTURES) / "trees/virtual_machine/proc";
  MachineMonitor monitor(system);
  monitor.sample(TimePoint(1h));
  EXPECT_EQ(monitor.usage().processors, 2U);
  EXPECT_EQ(monitor.usage().memory_total_bytes, 24'684'092ULL * 1024);
}

}  // namespace
}  // namespace wattle
