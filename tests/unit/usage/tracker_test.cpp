#include "wattle/tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

#include "fakes/gated_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "sanitized.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

TrackerOptions without_gpus() {
  TrackerOptions options;
  options.resource_usage_file = "";
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
  EXPECT_THROW(tracker.start(), InvalidState);
  EXPECT_THROW((void)tracker.to_text(), NotStopped);
  tracker.stop();
  EXPECT_EQ(to_string(tracker.state()), "STOPPED");
  EXPECT_NO_THROW(tracker.stop()) << "a second time it does nothing";
  EXPECT_THROW(tracker.start(), InvalidState);
  EXPECT_FALSE(tracker.to_json().empty());
}

TEST(Tracker, HasTheDefaultsThatUsersKnow) {
  const TrackerOptions options;
  EXPECT_EQ(options.sleep_time, std::chrono::seconds(1));
  EXPECT_EQ(options.ram_unit, "gigabytes");
  EXPECT_EQ(options.gpu_ram_unit, "gigabytes");
  EXPECT_EQ(options.time_unit, "hours");
  EXPECT_FALSE(options.overwrite);
  EXPECT_FALSE(options.process_id);
}

TEST(Tracker, TracksThisProcessButNotItself) {
  TrackerOptions options = without_gpus();
  options.sleep_time = std::chrono::milliseconds(10);
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

TEST(Tracker, StopsWithin50MillisecondsWhateverThePeriod) {
  for (const std::chrono::nanoseconds period : {10ms, 1000ms, 3600000ms}) {
    auto shortest = std::chrono::nanoseconds::max();
    for (int i = 0; i < 5; ++i) {  // the machine may do something else meanwhile
      TrackerOptions options = without_gpus();
      options.sleep_time = period;
      Tracker tracker(options);
      tracker.start();
      const auto begin = std::chrono::steady_clock::now();
      tracker.stop();
      shortest =
          std::min<std::chrono::nanoseconds>(shortest, std::chrono::steady_clock::now() - begin);
    }
    EXPECT_LT(shortest, 50ms) << period.count();
  }
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
  options.sleep_time =
      std::chrono::milliseconds(3600000);  // so that only the end itself can wake it
  Tracker tracker(options);
  tracker.start();
  ::kill(child, SIGKILL);
  while (!tracker.has_target_ended()) std::this_thread::sleep_for(1ms);
  ::waitpid(child, nullptr, 0);
  tracker.stop();
  EXPECT_TRUE(tracker.resource_usage().still_running->empty());
}

/// How often threads of this process other than the calling one have begun to wait.
std::uint64_t waits_of_other_threads() {
  std::uint64_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (entry.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream status(entry.path() / "status");
    for (std::string key; status >> key;) {
      std::uint64_t count = 0;
      if (key == "voluntary_ctxt_switches:" && status >> count) sum += count;
    }
  }
  return sum;
}

TEST(Tracker, IsNotWokenUpAfterItsProcessHasEnded) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own thread wakes up";
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  TrackerOptions options = without_gpus();
  options.process_id = child;
  options.sleep_time = std::chrono::milliseconds(10);
  Tracker tracker(options);
  tracker.start();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(fakes::eventually([&] { return tracker.has_target_ended(); }));
  EXPECT_TRUE(fakes::eventually([] {
    const std::uint64_t before = waits_of_other_threads();
    std::this_thread::sleep_for(200ms);  // 20 of its periods
    return waits_of_other_threads() == before;
  }));
}

TEST(Tracker, ReportsWhichFileCouldNotBeWrittenButKeepsItsFigures) {
  TrackerOptions options = without_gpus();
  options.resource_usage_file = "/dev/full";
  options.sleep_time = std::chrono::milliseconds(10);
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
