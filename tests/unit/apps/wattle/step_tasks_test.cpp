#include "step/step_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace wattle::app {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// As Slurm's plugin would write it, all at once.
StepTasks tasks_of(std::string_view text) {
  StepTasks tasks;
  tasks.take(text, 5.0);
  return tasks;
}

TEST(StepTasks, KnowsWhatEachTaskUsed) {
  const StepTasks tasks = tasks_of(
      "launcher 8000\ngpus 4\nrestarts 2\nstart 1\nstart 0\n"
      "exit 1 256 1500000 500000 9000 10 1 20 2\nexit 0 0 0 1 - 1 0 1 0\nend\n");
  ASSERT_THAT(tasks.tasks(), SizeIs(2));
  const SlurmTask& first = tasks.tasks()[0];
  const SlurmTask& second = tasks.tasks()[1];
  EXPECT_EQ(first.rank, 0U);
  EXPECT_EQ(first.peak_rss_bytes, std::nullopt) << "not known";
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(second.signal, std::nullopt);
  EXPECT_EQ(second.cpu_user, Seconds(1.5));
  EXPECT_EQ(second.peak_rss_bytes, 9000U * 1024U);
  EXPECT_EQ(second.started_unix_s, 5.0);
  EXPECT_EQ(tasks.usage().cpu_user + tasks.usage().cpu_system, Seconds(2.000001));
  EXPECT_EQ(tasks.usage().minor_faults, 11U);
  EXPECT_EQ(tasks.launcher_rss_bytes(), 8000U * 1024U);
  EXPECT_EQ(tasks.gpus(), 4U);
  EXPECT_EQ(tasks.restarts(), 2U);
  EXPECT_TRUE(tasks.has_ended());
  EXPECT_EQ(tasks.ignored(), 0U);
}

TEST(StepTasks, KeepsTheLaunchersMemoryWhereALaterLineIsDamaged) {
  const StepTasks tasks = tasks_of("launcher 8000\nlauncher x\n");
  EXPECT_EQ(tasks.launcher_rss_bytes(), 8000U * 1024U);
  EXPECT_EQ(tasks.ignored(), 1U);
}

TEST(StepTasks, TakesLinesInParts) {
  StepTasks tasks;
  for (const char c : std::string_view("start 7\nend\n")) tasks.take({&c, 1}, 5.0);
  ASSERT_THAT(tasks.tasks(), SizeIs(1));
  EXPECT_EQ(tasks.tasks()[0].rank, 7U);
  EXPECT_TRUE(tasks.has_ended());
}

TEST(StepTasks, HaveTheLargestCodeOfAll) {
  const Exit exit = tasks_of("exit 0 0 1 1 1 0 0 0 0\nexit 1 768 1 1 1 0 0 0 0\n").exit();
  EXPECT_EQ(exit.code, 3);
  EXPECT_FALSE(exit.signal);
  EXPECT_TRUE(exit.started);
}

TEST(StepTasks, HaveTheSignalThatKilledTheFirst) {
  const Exit exit = tasks_of("exit 0 768 1 1 1 0 0 0 0\nexit 1 9 1 1 1 0 0 0 0\n").exit();
  EXPECT_EQ(exit.signal, 9);
  EXPECT_FALSE(exit.code);
}

TEST(StepTasks, HaveNoStatusWhereOneWasNotReported) {
  const Exit exit = tasks_of("start 0\nstart 1\nexit 1 0 1 1 1 0 0 0 0\n").exit();
  EXPECT_FALSE(exit.has_status());
  EXPECT_EQ(exit.error, "Slurm reported no end of 1 of 2 tasks");
  EXPECT_EQ(tasks_of("").exit().error, "Slurm reported no task of this step");
}

TEST(StepTasks, EndOnce) {
  const StepTasks tasks = tasks_of("exit 0 0 5 0 1 0 0 0 0\nexit 0 256 5 0 1 0 0 0 0\n");
  EXPECT_EQ(tasks.exit().code, 0);
  EXPECT_EQ(tasks.usage().cpu_user, Seconds(0.000005));
  EXPECT_EQ(tasks.ignored(), 1U);
}

TEST(StepTasks, IgnoreWhatIsNoLineOfTheirs) {
  for (const std::string& line :
       {std::string("exit 0 0 1 1 1 0 0 0"), std::string("exit -1 0 1 1 1 0 0 0 0"),
        std::string("exit 0 0 99999999999999999999 1 1 0 0 0 0"), std::string("start x"),
        std::string("exit 0 0 1 1 many 0 0 0 0"), std::string("gpus 1025"),
        std::string("start 4294967296"), std::string(), std::string(10'000, 'x')}) {
    const StepTasks tasks = tasks_of(line + "\n");
    EXPECT_THAT(tasks.tasks(), IsEmpty()) << line;
    EXPECT_EQ(tasks.ignored(), 1U) << line;
  }
}

TEST(StepTasks, AreBounded) {
  StepTasks tasks;
  for (std::size_t rank = 0; rank <= StepTasks::kMostTasks; ++rank) {
    tasks.take("start " + std::to_string(rank) + "\n", 5.0);
  }
  EXPECT_THAT(tasks.tasks(), SizeIs(StepTasks::kMostTasks));
  EXPECT_EQ(tasks.ignored(), 1U);
}

TEST(StepTasks, SurviveAnyBytes) {
  std::mt19937 random(7);  // NOLINT: the same every time
  constexpr std::string_view kAlphabet("exitstargpuend 0123456789-\n\0\xff", 30);
  StepTasks tasks;
  for (int i = 0; i < 200'000; ++i) {
    const char c = kAlphabet[random() % kAlphabet.size()];
    tasks.take({&c, 1}, 5.0);
  }
  EXPECT_GT(tasks.ignored(), 0U);
  (void)tasks.exit();
}

}  // namespace
}  // namespace wattle::app
