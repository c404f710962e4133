#include "run/task_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle::app {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Ten seconds that were waited for, on a machine without interrupts.
CpuCounts counted(double clocked_s) {
  return {.waited = Seconds(10.0), .clocked = Seconds(clocked_s), .interrupted = Seconds(0.0)};
}

TEST(TaskClockComparison, TwoCountsThatAreNearlyAlikeAgree) {
  EXPECT_FALSE(compare(counted(10.2)));
  EXPECT_FALSE(compare(counted(10.0)));
  EXPECT_FALSE(compare(counted(9.0))) << "many small processes, whose ends the clock does not see";
  EXPECT_FALSE(compare({}));
}

TEST(TaskClockComparison, AClockThatCountedMoreSaysThatSomeWereNotWaitedFor) {
  const auto mismatch = compare(counted(10.5));
  ASSERT_TRUE(mismatch);
  EXPECT_THAT(mismatch->keys, Contains("cpu_s"));
  EXPECT_THAT(mismatch->reason, HasSubstr("0.500 s more"));
}

TEST(TaskClockComparison, WhatInterruptsAndTheHypervisorTookIsNoMismatch) {
  CpuCounts counts = counted(10.5);
  counts.interrupted = Seconds(0.4);
  EXPECT_FALSE(compare(counts));
  counts.interrupted.reset();
  EXPECT_FALSE(compare(counts)) << "nobody knows how much they took";
}

TEST(TaskClockComparison, ProcessesThatStillRunAreKnownToTenMilliseconds) {
  CpuCounts counts = counted(10.3);
  EXPECT_TRUE(compare(counts));
  counts.still_running = 5;
  EXPECT_FALSE(compare(counts));
}

TEST(TaskClockComparison, AClockThatTheKernelStoppedIsTheOneThatIsTooSmall) {
  const auto mismatch = compare(counted(0.01));
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->keys, std::vector<std::string>{"cpu_task_clock_s"});
  EXPECT_THAT(mismatch->reason, HasSubstr("9.990 s less"));
}

TEST(TaskClockComparison, WhatContextSwitchesTookIsNoStoppedClock) {
  CpuCounts counts = counted(6.0);
  EXPECT_TRUE(compare(counts));
  counts.switches = 400'000;
  EXPECT_FALSE(compare(counts));
}

TEST(TaskClock, ThatNobodyAskedForSaysSo) {
  EXPECT_FALSE(TaskClock().read());
  EXPECT_THAT(TaskClock().refused(), HasSubstr("--task-clock"));
}

TEST(TaskClock, OfAProcessThatIsNotThereSaysWhyThereIsNone) {
  constexpr pid_t kNobody = 0x7fff'fffe;
  const TaskClock clock(kNobody);
  EXPECT_FALSE(clock.read());
  EXPECT_THAT(clock.refused(), HasSubstr("task clock"));
}

}  // namespace
}  // namespace wattle::app
