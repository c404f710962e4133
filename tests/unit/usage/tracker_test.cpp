#include "wattle/tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

TrackerOptions without_gpus() {
  TrackerOptions options;
  options.system.sysfs = "/nowhere";
  options.system.nvml_library = "/nowhere/none.so";
  options.time_unit = "seconds";
  return options;
}

TEST(Tracker, GoesThroughItsStates) {
  Tracker tracker(without_gpus());
  EXPECT_EQ(to_string(tracker.state()), "NEW");
  EXPECT_THROW(tracker.stop(), NotStarted);
  EXPECT_THROW((void)tracker.to_json(), NotStopped);
  tracker.start();
  EXPECT_EQ(to_string(tracker.state()), "STARTED");
  EXPECT_THROW(tracker.start(), Error);
  EXPECT_THROW((void)tracker.to_text(), NotStopped);
  tracker.stop();
  EXPECT_EQ(to_string(tracker.state()), "STOPPED");
  EXPECT_THROW(tracker.stop(), NotStarted);
  EXPECT_THROW(tracker.start(), Error);
  EXPECT_FALSE(tracker.to_json().empty());
}

TEST(Tracker, HasTheDefaultsThatUsersKnow) {
  const TrackerOptions options;
  EXPECT_EQ(options.sleep_time.count(), 1.0);
  EXPECT_EQ(options.ram_unit, "gigabytes");
  EXPECT_EQ(options.gpu_ram_unit, "gigabytes");
  EXPECT_EQ(options.time_unit, "hours");
  EXPECT_FALSE(options.overwrite);
  EXPECT_FALSE(options.process_id);
}

TEST(Tracker, TracksThisProcessButNotItself) {
  TrackerOptions options = without_gpus();
  options.sleep_time = Seconds(0.01);
  std::thread([] {}).join();  // a sanitizer begins one of its own with the first
  const auto threads = static_cast<unsigned>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
  Tracker tracker(options);
  Tracker other(options);
  tracker.start();
  other.start();
  std::this_thread::sleep_for(50ms);
  other.stop();
  tracker.stop();
  const ResourceUsage& usage = tracker.resource_usage();
  EXPECT_EQ(usage.cpu_utilization.main_n_threads, threads) << "without the trackers' own";
  EXPECT_GT(usage.max_ram.main.total_rss.value_or(0), 0.0);
  EXPECT_GE(usage.compute_time.time, 0.05);
  EXPECT_TRUE(usage.tracker_cpu);
}

TEST(Tracker, StopsAtOnceWhateverThePeriod) {
  TrackerOptions options = without_gpus();
  options.sleep_time = Seconds(3600);
  Tracker tracker(options);
  tracker.start();
  // In processor time, which other programs do not add to: it does not wait for its period.
  const auto begin = std::chrono::steady_clock::now();
  tracker.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Tracker, IsStoppedByTheEndOfAScope) {
  Tracker tracker(without_gpus());
  try {
    const TrackerScope scope(tracker);
    throw std::runtime_error("of the body");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(tracker.state(), Tracker::State::STOPPED);
  EXPECT_GT(tracker.resource_usage().compute_time.time, 0.0);
}

TEST(Tracker, MayBeStoppedWithinItsScope) {
  Tracker tracker(without_gpus());
  {
    const TrackerScope scope(tracker);
    tracker.stop();
  }
  EXPECT_EQ(tracker.state(), Tracker::State::STOPPED);
}

TEST(Tracker, SeesTheEndOfItsProcessAndRests) {
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  TrackerOptions options = without_gpus();
  options.process_id = child;
  options.sleep_time = Seconds(3600);  // so that only the end itself can wake it
  Tracker tracker(options);
  tracker.start();
  ::kill(child, SIGKILL);
  while (!tracker.has_target_ended()) std::this_thread::sleep_for(1ms);
  ::waitpid(child, nullptr, 0);
  tracker.stop();
  EXPECT_TRUE(tracker.resource_usage().still_running->empty());
}

TEST(Tracker, TellsWhichFileCouldNotBeWrittenButKeepsItsFigures) {
  TrackerOptions options = without_gpus();
  options.resource_usage_file = "/dev/full";
  options.sleep_time = Seconds(0.01);
  Tracker tracker(options);
  tracker.start();
  EXPECT_THROW(tracker.stop(), WriteError);
  EXPECT_EQ(tracker.state(), Tracker::State::STOPPED);
  EXPECT_GT(tracker.resource_usage().compute_time.time, 0.0);
}

TEST(Tracker, DoesNothingInTheChildAfterAFork) {
  auto tracker = std::make_unique<Tracker>(without_gpus());
  tracker->start();
  const pid_t child = ::fork();
  if (child == 0) {
    tracker->stop();
    tracker.reset();
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  tracker->stop();
  EXPECT_EQ(tracker->state(), Tracker::State::STOPPED);
}

TEST(Tracker, RefusesAProcessThatEndedBeforeItsStart) {
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  TrackerOptions options = without_gpus();
  options.process_id = child;
  Tracker tracker(options);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THROW(tracker.start(), InvalidArgument);
  EXPECT_EQ(tracker.state(), Tracker::State::NEW);
}

}  // namespace
}  // namespace wattle
