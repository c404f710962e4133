#include "usage/machine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

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

TEST_F(MachineMonitorTest, SaysWhatInterruptsAndTheHypervisorTook) {
  const auto set_taken = [&](int hard, int soft, int stolen) {
    folder_.write("stat", "cpu  100 0 0 100 0 " + std::to_string(hard) + " " +
                              std::to_string(soft) + " " + std::to_string(stolen) +
                              "\ncpu0 1 2 3 4 5 6 7 8\nintr 1 2 3\n");
  };
  set_taken(1, 2, 30);
  MachineMonitor monitor = start();
  EXPECT_EQ(monitor.usage().interrupted, std::nullopt) << "not seen yet";
  monitor.sample(begin_);
  set_taken(2, 4, 37);
  monitor.sample(begin_ + 1s);
  EXPECT_DOUBLE_EQ(monitor.usage().interrupted.value().count(), 0.10);
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
