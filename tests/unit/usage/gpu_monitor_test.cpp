// What a tracker says of GPUs whose utilization changes, in virtual time.
#include "usage/gpu/gpu_monitor.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/scripted_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "sensors/providers.hpp"

namespace wattle {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;
using testing::HasSubstr;
using testing::IsEmpty;

/// Whose a process is, at a time in seconds.
using KinshipAt = std::function<Kinship(pid_t, double)>;

Kinship stranger(pid_t /*pid*/, double /*at_s*/) { return Kinship::stranger; }

/// What is read beside the power of GPUs.
enum class Reads { utilization, utilization_and_processes };

/// GPUs that are read when the test says so, from `start_s` on.
class PlayedGpus {
 public:
  explicit PlayedGpus(const std::string& script, Reads reads = Reads::utilization,
                      KinshipAt kinship_at = stranger, double start_s = 0.0)
      : fake_(script), kinship_at_(std::move(kinship_at)) {
    ReadingsOptions options = GpuMonitor::sampling(std::chrono::milliseconds(100));
    options.only_when_asked = true;
    // The time of a reading that happens by itself would be that by which the test moves the clock.
    options.list_period = std::chrono::hours(1);
    options.lists_processes = reads == Reads::utilization_and_processes;
    options.metrics = {Metric::utilization};
    Survey found = survey(fake_.system(), fake_.clock(), DomainKinds::all());
    readings_.emplace(std::move(found.sensors), fake_.clock(), options);
    shown_ = readings_->no_capture();
    readings_->wait_for_first(machine_clock().now() + std::chrono::seconds(30));
    const std::vector<bool> all(readings_->devices().size(), true);
    monitor_.emplace(*readings_, SummedGpus{all, all});
    read_at(start_s);
  }

  /// Ten times a second, as a tracker does, until `end_s`, that included.
  void read_until(double end_s) {
    while (now_s_ < end_s) read_at(std::min(now_s_ + 0.1, end_s));
  }
  void read_at(double at_s) {
    now_s_ = at_s;
    fake_.set_time(Seconds(at_s));
    ASSERT_TRUE(readings_->read_lanes(shown_, machine_clock().now() + std::chrono::seconds(30),
                                      Lanes::all));
    monitor_->sample([&](pid_t pid) { return kinship_at_(pid, at_s); }, kBegan);
  }
  /// From time 0 until now.
  [[nodiscard]] GpusUsage usage() const {
    return monitor_->usage(kBegan, kBegan + duration_cast<nanoseconds>(Seconds(now_s_)));
  }

 private:
  static constexpr TimePoint kBegan{std::chrono::hours(1)};

  fakes::FakeNvml fake_;
  KinshipAt kinship_at_;
  std::optional<Readings> readings_;
  Capture shown_;
  std::optional<GpuMonitor> monitor_;
  double now_s_ = 0.0;
};

TEST(GpuMonitor, HasTheMeanOverTimeOfAUtilizationThatChanges) {
  PlayedGpus gpus("gpu A\nutilization step 0 20 0 5 80 0\n");
  gpus.read_until(20.0);
  const GpusUsage usage = gpus.usage();
  ASSERT_TRUE(usage.mean_sum_percent);
  EXPECT_NEAR(*usage.mean_sum_percent, (5.0 * 20.0 + 15.0 * 80.0) / 20.0, 0.01);
  EXPECT_EQ(usage.max_sum_percent, 80.0);
}

TEST(GpuMonitor, WeighsAReadingByTheTimeThatItStandsFor) {
  PlayedGpus gpus("gpu A\nutilization step 0 10 0 9 90 0\n");
  gpus.read_until(9.0);
  // Ten times as many readings in the last second as there would be otherwise.
  for (int i = 1; i <= 20; ++i) gpus.read_at(9.0 + 0.05 * i);
  ASSERT_TRUE(gpus.usage().mean_sum_percent);
  EXPECT_NEAR(*gpus.usage().mean_sum_percent, (9.0 * 10.0 + 1.0 * 90.0) / 10.0, 0.01);
}

TEST(GpuMonitor, AddsUpMeansAndTheLargestSumAtOneTime) {
  PlayedGpus gpus(
      "gpu A\nutilization step 0 100 0 5 0 0\n"
      "gpu B\nutilization step 0 0 0 5 60 0\n");
  gpus.read_until(10.0);
  const GpusUsage usage = gpus.usage();
  ASSERT_TRUE(usage.mean_sum_percent);
  EXPECT_NEAR(*usage.mean_sum_percent, 50.0 + 30.0, 0.01);
  EXPECT_EQ(usage.max_sum_percent, 100.0) << "not 160: never both at once";
}

TEST(GpuMonitor, HasTheMeanOfTheRestWhereAShortStretchCannotBeRead) {
  PlayedGpus gpus(
      "gpu A\nutilization step 0 40 0 10 80 0\n"
      "error nvmlDeviceGetUtilizationRates 999 from 12 until 13\n");
  gpus.read_until(20.0);
  const GpusUsage usage = gpus.usage();
  ASSERT_TRUE(usage.mean_sum_percent) << usage.utilization_gap;
  // Neither 0 nor the value before counts for the second that nobody saw.
  EXPECT_NEAR(*usage.mean_sum_percent, (10.0 * 40.0 + 9.0 * 80.0) / 19.0, 0.6);
  EXPECT_THAT(usage.utilization_gap, IsEmpty());
}

TEST(GpuMonitor, HasNoMeanWhereALongStretchCannotBeRead) {
  PlayedGpus gpus(
      "gpu A\nutilization 60 0\nerror nvmlDeviceGetUtilizationRates 999 from 0.4 until 1000\n");
  gpus.read_until(20.0);
  const GpusUsage usage = gpus.usage();
  EXPECT_FALSE(usage.mean_sum_percent) << "60 of half a second";
  EXPECT_FALSE(usage.max_sum_percent);
  EXPECT_THAT(usage.utilization_gap, HasSubstr(" s of 20 s"));
}

/// 60 % at every multiple of 0.2 s, when the fake takes its samples, and else 30 %: what is read
/// sees a part of the time alone.
TEST(GpuMonitor, HasTheMeanOfTheDriversSamplesWhereThereAreSome) {
  std::string script = "gpu A\nutilization step";
  for (int fifth = 0; fifth <= 100; ++fifth) {
    script += fmt::format(" {:.2f} 60 0 {:.2f} 30 0", fifth * 0.2, fifth * 0.2 + 0.01);
  }
  constexpr double kBetweenSamples = 0.05;
  PlayedGpus gpus(script + "\n", Reads::utilization_and_processes, stranger, kBetweenSamples);
  gpus.read_until(20.0);
  const GpusUsage usage = gpus.usage();
  ASSERT_TRUE(usage.mean_sum_percent) << usage.utilization_gap;
  EXPECT_NEAR(*usage.mean_sum_percent, 60.0, 1.0);
  EXPECT_GE(usage.max_sum_percent, usage.mean_sum_percent);
}

constexpr pid_t kCommand = 4711;
constexpr pid_t kDoubtful = 4713;

/// What is known of a GPU's users after two seconds. From `forgotten_s` on all of them have ended,
/// but are still in the driver's list.
GpuUsage users_of(const std::string& processes, double forgotten_s = 10.0) {
  const auto kinship_at = [&](pid_t pid, double at_s) {
    if (at_s >= forgotten_s || pid == kDoubtful) return Kinship::unknown;
    return pid == kCommand ? Kinship::main : Kinship::stranger;
  };
  PlayedGpus gpus("gpu A\n" + processes, Reads::utilization_and_processes, kinship_at);
  gpus.read_at(1.0);
  gpus.read_at(2.0);
  return gpus.usage().gpus.at(0);
}

TEST(GpuUsers, HaveTheTimeThatTheGpuWorkedForThem) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  const GpuUsage usage =
      users_of("process compute 4711 1 sm 60\nprocess compute 4712 1 sm 20 from 1\n");
  EXPECT_EQ(usage.used_by_others, true);
  ASSERT_TRUE(usage.command_engine_time && usage.others_engine_time);
  EXPECT_NEAR(usage.command_engine_time->count(), 0.6, 1e-6);
  EXPECT_NEAR(usage.others_engine_time->count(), 0.2, 1e-6);
}

/// An H100's driver goes on listing a process for a while after it ended.
TEST(GpuUsers, AreKnownAfterTheyEndedWhereTheyWereKnownBefore) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  constexpr double kAfterOneList = 0.5;
  const GpuUsage usage =
      users_of("process compute 4711 1\nprocess compute 4712 1\n", kAfterOneList);
  EXPECT_EQ(usage.used_by_command, true);
  EXPECT_EQ(usage.used_by_others, true) << usage.used_by_others_unknown;
}

TEST(GpuUsers, AreNotKnownWhereTheDriverListsNotAllOfThem) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  const GpuUsage doubtful = users_of("process compute 4711 1\nprocess compute 4713 1\n");
  EXPECT_EQ(doubtful.used_by_command, true);
  EXPECT_EQ(doubtful.used_by_others, std::nullopt);
  EXPECT_THAT(doubtful.used_by_others_unknown, HasSubstr("may or may not be the command's"));
  EXPECT_FALSE(doubtful.command_engine_time);
  // Under MPS the driver lists the server, which is this process for once.
  std::array<char, 16> name{};
  ::prctl(PR_GET_NAME, name.data());
  ::prctl(PR_SET_NAME, "nvidia-cuda-mps");
  const GpuUsage served = users_of("process compute " + std::to_string(::getpid()) + " 1 sm 50\n");
  ::prctl(PR_SET_NAME, name.data());
  EXPECT_EQ(served.used_by_command, std::nullopt)
      << "it may be one of those that the server serves";
  EXPECT_THAT(served.used_by_command_unknown, HasSubstr("MPS"));
}

/// The users of a GPU of AMD or Intel are found by the files that they have open.
TEST(GpuUsers, AreNotAllKnownToWhoMayNotReadTheFilesOfOthers) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  for (const bool sees_files : {true, false}) {
    std::vector<std::unique_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::GatedSensor>(
        std::vector{fakes::counter_channel(Domain::amd_gpu(0))}, std::make_shared<fakes::Gate>(),
        machine_clock()));
    ReadingsOptions options = GpuMonitor::sampling(std::chrono::milliseconds(100));
    options.only_when_asked = true;
    Readings readings(std::move(sensors), machine_clock(), options);
    GpuMonitor monitor(readings, {{true}, {true}}, sees_files);
    const TimePoint began = machine_clock().now();
    Capture shown = readings.no_capture();
    ASSERT_TRUE(readings.read_lanes(shown, began + std::chrono::seconds(30), Lanes::all));
    monitor.sample([](pid_t) { return Kinship::main; }, began);
    const GpuUsage usage = monitor.usage(began, machine_clock().now()).gpus.at(0);
    EXPECT_EQ(usage.used_by_command, true) << usage.used_by_command_unknown;
    EXPECT_EQ(usage.used_by_others, sees_files ? std::optional(false) : std::nullopt);
    EXPECT_EQ(usage.used_by_others_unknown,
              sees_files ? "" : "only root sees all processes that use it");
  }
}

/// With the mount option hidepid, users see no process but their own.
TEST(FilesOfAll, AreNotSeenWhereProcessOneIsHidden) {
  const fakes::TempFolder folder;
  EXPECT_TRUE(sees_files_of_all(folder.path())) << "no /proc of a kernel";
  std::filesystem::create_directories(folder.path() / "self");
  EXPECT_FALSE(sees_files_of_all(folder.path()));
  std::filesystem::create_directories(folder.path() / "1" / "fd");
  EXPECT_TRUE(sees_files_of_all(folder.path()));
}

}  // namespace
}  // namespace wattle
