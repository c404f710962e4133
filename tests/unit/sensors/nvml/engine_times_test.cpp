// For how long a GPU worked for each process, by what the driver answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fakes/virtual_clock.hpp"
#include "nvml_test.hpp"
#include "sensors/nvml/busy_times.hpp"

namespace wattle::nvml {
namespace {

std::optional<std::chrono::nanoseconds> engine_time(Gpus& gpus, std::size_t process) {
  const auto found = gpus[0].processes();
  return found && process < found->size() ? (*found)[process].engine_time : std::nullopt;
}

TEST(EngineTimes, AddUpThePartsOfTheTimeThatTheGpuWorkedForEachProcess) {
  using std::chrono::milliseconds;
  Gpus gpus("gpu A\nprocess compute 4711 1 sm 40 until 3\nprocess compute 4712 1 sm 20\n");
  gpus.at(0.2);
  EXPECT_EQ(engine_time(gpus, 0), milliseconds(0)) << "from the first sample on";
  gpus.at(1.2);
  EXPECT_EQ(engine_time(gpus, 0), milliseconds(400));
  gpus.at(2.2);
  EXPECT_EQ(engine_time(gpus, 1), milliseconds(400));
  gpus.at(3.2);
  EXPECT_EQ(engine_time(gpus, 0), milliseconds(600)) << "the other one: the first has ended";
}

/// What a driver answers that is asked at these times.
struct Answered {
  double at_s;
  std::vector<ProcessUtilization> samples;
};

/// A driver that plays recorded answers. NVML's functions have no state to pass: it is here.
std::vector<ProcessUtilization> next_samples;  // NOLINT: see above
int asked = 0;                                 // NOLINT: see above

Api recorded_driver() {
  Api api{DynamicLibrary()};
  api.process_utilization = [](Handle, ProcessUtilization* samples, std::uint32_t* count,
                               unsigned long long) {
    ++asked;
    if (next_samples.empty()) return Return::not_found;
    std::ranges::copy(next_samples, samples);
    *count = static_cast<std::uint32_t>(next_samples.size());
    return Return::success;
  };
  return api;
}

/// The seconds of two processes, after all answers.
std::pair<double, double> times_of(const std::vector<Answered>& answers) {
  const Api api = recorded_driver();
  fakes::VirtualClock clock;
  const TimePoint start = clock.at();
  EngineTimes times;
  std::vector<DeviceProcess> listed;
  for (const Answered& answer : answers) {
    clock.advance(start +
                  std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(answer.at_s)) -
                  clock.at());
    next_samples = answer.samples;
    listed = {{.pid = 7}, {.pid = 8}};
    times.fill(api, nullptr, clock, listed);
  }
  const auto seconds_of = [](const DeviceProcess& process) {
    return Seconds(process.engine_time.value()).count();
  };
  return {seconds_of(listed[0]), seconds_of(listed[1])};
}

ProcessUtilization sample(std::uint32_t pid, double at_s, std::uint32_t percent) {
  return {
      .pid = pid, .timestamp_us = static_cast<std::uint64_t>(at_s * 1e6), .sm_percent = percent};
}

/// An H100, driver 580.159.04, asked once a second while two processes took turns of 250 ms: they
/// worked 1.381 and 1.250 s from 0.955 to 3.956 s. The driver counts each 0.2 s for the last of the
/// two: their sum is right.
TEST(EngineTimes, OfTwoProcessesOnAnH100AddUpToTheTimeThatItWorked) {
  const auto [first, second] = times_of({{1.013, {sample(7, 0.955, 1)}},
                                         {2.017, {sample(8, 1.755, 20), sample(7, 1.955, 42)}},
                                         {3.021, {sample(7, 2.955, 60), sample(8, 2.756, 40)}},
                                         {4.025, {sample(7, 3.956, 60), sample(8, 3.755, 40)}}});
  EXPECT_NEAR(first + second, 1.381 + 1.250, 0.02);
  EXPECT_NEAR(first, 1.62, 0.01) << "as the driver counts";
}

/// As the same driver answers after all other processes have ended.
TEST(EngineTimes, OfASampleThatIsShownAgainAreAddedOnce) {
  const auto [first, second] = times_of(
      {{1.0, {sample(7, 0.9, 50)}}, {2.0, {sample(7, 1.9, 50)}}, {3.0, {sample(7, 1.9, 99)}}});
  EXPECT_NEAR(first, 0.5, 1e-6);
  EXPECT_EQ(second, 0.0);
}

/// Without a process on the GPU there are no samples. What the driver shows of the first one after
/// that is of a time that is not known.
TEST(EngineTimes, AreNotOfTheTimeInWhichNobodyUsedTheGpu) {
  const auto [first, second] = times_of({{0.2, {sample(7, 0.1, 0)}},
                                         {1.0, {}},
                                         {600.0, {}},
                                         {600.4, {sample(7, 600.3, 100)}},
                                         {600.6, {sample(7, 600.5, 100)}}});
  EXPECT_NEAR(first, 0.2, 1e-6);
}

/// The driver's time stamps are those of the wall clock.
TEST(EngineTimes, GoOnAfterTheClockWasSetBack) {
  const auto [first, second] = times_of({{1.0, {sample(7, 5000.0, 50)}},
                                         {2.0, {}},
                                         {4.0, {}},
                                         {5.0, {sample(7, 1400.0, 50)}},
                                         {6.0, {sample(7, 1401.0, 50)}}});
  EXPECT_NEAR(first, 0.5, 1e-6);
}

TEST(EngineTimes, AreNotOfATimeStampThatIsImpossible) {
  constexpr double kFarOff = 1.7e13;  // close to the last that 64 bits of microseconds hold
  const auto [first, second] =
      times_of({{1.0, {sample(7, 0.9, 50)}}, {2.0, {sample(7, kFarOff, 50)}}});
  EXPECT_EQ(first, 0.0);
}

TEST(EngineTimes, LeaveOutAPercentageThatIsImpossible) {
  const auto [first, second] =
      times_of({{1.0, {sample(7, 0.9, 50)}}, {2.0, {sample(7, 1.9, 1'000'000)}}});
  EXPECT_EQ(first, 0.0);
}

TEST(EngineTimes, HaveThatOfAProcessThatStartedAfterTheListWasMade) {
  const Api api = recorded_driver();
  fakes::VirtualClock clock;
  EngineTimes times;
  std::vector<DeviceProcess> none;
  std::vector<DeviceProcess> listed = {{.pid = 7}};
  next_samples = {};
  times.fill(api, nullptr, clock, none);
  for (const double at_s : {1.0, 2.0}) {
    clock.advance(std::chrono::seconds(1));
    next_samples = {sample(7, at_s, 50)};
    times.fill(api, nullptr, clock, none);
  }
  times.fill(api, nullptr, clock, listed);
  EXPECT_EQ(listed[0].engine_time, std::chrono::milliseconds(500));
}

/// A call takes 2.5 ms on an H100.
TEST(EngineTimes, CostNoMoreThanAHalfPercentOfTheTime) {
  Api api = recorded_driver();
  fakes::VirtualClock clock;
  clock.advance_at_each_look(std::chrono::microseconds(2500));
  EngineTimes times;
  std::vector<DeviceProcess> listed = {{.pid = 7}};
  next_samples = {sample(7, 1.0, 50)};
  asked = 0;
  const TimePoint start = clock.at();
  for (int list = 0; list < 100; ++list) {
    times.fill(api, nullptr, clock, listed);
    clock.advance(std::chrono::milliseconds(100));
  }
  EXPECT_GT(asked, 10);
  EXPECT_LT(asked * 0.0025, 0.006 * Seconds(clock.at() - start).count());
}

TEST(EngineTimes, AreNotKnownWhereTheDriverDoesNotReportThem) {
  for (const char* script :
       {"gpu A\nprocess compute 4711 1\n", "gpu A\nmig on\nprocess compute 4711 1 sm 40\n"}) {
    Gpus gpus(script);
    EXPECT_EQ(engine_time(gpus, 0), std::nullopt) << script;
  }
}

}  // namespace
}  // namespace wattle::nvml
