// Trackers beside a scripted libnvidia-ml.so.1: what cannot be had of a GPU costs that value alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "base/files/file.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "sanitized.hpp"
#include "usage/tree/process_tree.hpp"
#include "wattle/tracker.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

constexpr const char* kTwoGpus =
    "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\nmemory 80000000000 1000000000\nutilization 60 10\n"
    "gpu NVIDIA H100 PCIe\nuuid GPU-bbbb\nmemory 80000000000 2000000000\nutilization 20 10\n";

TrackerOptions options_for(const fakes::FakeNvml& fake) {
  TrackerOptions options;
  options.resource_usage_file = "";
  options.system.sysfs = fake.system().sysfs;
  options.system.nvml_library = fake.system().nvml_library;
  options.sleep_time = std::chrono::milliseconds(20);
  return options;
}

/// Tracks this process for some looks.
ResourceUsage track(const TrackerOptions& options) {
  Tracker tracker(options);
  tracker.start();
  std::this_thread::sleep_for(100ms);  // any time does: GPUs were read at the start
  tracker.stop();
  return tracker.resource_usage();
}

ResourceUsage usage_with(const std::string& script) {
  fakes::FakeNvml fake(script);
  fake.let_time_pass();
  return track(options_for(fake));
}

std::string process_of_ours(const char* memory) {
  return fmt::format("process compute {} {}\n", ::getpid(), memory);
}

void expect_all_but_gpus(const ResourceUsage& usage) {
  EXPECT_TRUE(usage.max_ram.main.total_rss && usage.max_ram.combined.private_rss);
  EXPECT_TRUE(usage.max_ram.system && usage.max_ram.system_capacity);
  EXPECT_TRUE(usage.cpu_utilization.main.mean_sum_percent);
  EXPECT_TRUE(usage.cpu_utilization.combined.max_hardware_percent);
  EXPECT_GT(usage.compute_time.time, 0.0);
}

TEST(TrackerGpus, AreAddedUp) {
  const ResourceUsage usage = usage_with(kTwoGpus);
  EXPECT_EQ(usage.max_gpu_ram.system_capacity, 160.0);
  EXPECT_EQ(usage.max_gpu_ram.system, 3.0);
  EXPECT_EQ(usage.gpu_utilization.system_gpu_count, 2U);
  EXPECT_EQ(usage.gpu_utilization.n_expected_gpus, 2U);
  EXPECT_EQ(usage.gpu_utilization.gpu_percentages.mean_sum_percent, 80.0);
  EXPECT_EQ(usage.gpu_utilization.gpu_percentages.mean_hardware_percent, 40.0);
  expect_all_but_gpus(usage);
}

TEST(TrackerGpus, CostTheirUtilizationAloneWhereThatIsNotAvailable) {
  const ResourceUsage usage = usage_with(std::string(kTwoGpus) + "utilization none\n");
  EXPECT_FALSE(usage.gpu_utilization.gpu_percentages.mean_sum_percent) << "not 60";
  EXPECT_EQ(usage.max_gpu_ram.system, 3.0);
  EXPECT_THAT(usage.to_native_json(), HasSubstr(R"({"keys":["gpu_utilization.gpu_percentages"],)"
                                                R"("reason":"not every GPU reported it"})"));
  expect_all_but_gpus(usage);
}

TEST(TrackerGpus, CostTheirMemoryAloneWhereThatIsNotAvailable) {
  const ResourceUsage usage = usage_with(std::string(kTwoGpus) + "memory none\n");
  EXPECT_FALSE(usage.max_gpu_ram.system) << "not 1";
  EXPECT_EQ(usage.gpu_utilization.gpu_percentages.mean_sum_percent, 80.0);
  expect_all_but_gpus(usage);
}

TEST(TrackerGpus, CostAProcessAloneWhoseMemoryIsNotAvailable) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  const ResourceUsage usage = usage_with(kTwoGpus + process_of_ours("none"));
  EXPECT_FALSE(usage.max_gpu_ram.main) << "not 0";
  EXPECT_FALSE(usage.max_gpu_ram.combined);
  EXPECT_EQ(usage.max_gpu_ram.descendants, 0.0);
  EXPECT_EQ(usage.max_gpu_ram.system, 3.0);
  EXPECT_THAT(usage.to_native_json(),
              HasSubstr(R"({"keys":["max_gpu_ram.main","max_gpu_ram.combined"],)"));
  expect_all_but_gpus(usage);
}

TEST(TrackerGpus, ReportTheMemoryOfAProcess) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  const ResourceUsage usage =
      usage_with(kTwoGpus + process_of_ours("500000000") + "process compute 1 700000000\n");
  EXPECT_EQ(usage.max_gpu_ram.main, 0.5) << "the other one is nobody of ours";
  EXPECT_EQ(usage.max_gpu_ram.descendants, 0.0);
  EXPECT_EQ(usage.max_gpu_ram.combined, 0.5);
}

TEST(TrackerGpus, HaveNoUtilizationOfAllTimeWhereOneWasLost) {
  fakes::FakeNvml fake(std::string(kTwoGpus) + "lost 5 1000\n");
  fake.set_time(Seconds(1.0));
  TrackerOptions options = options_for(fake);
  const fakes::TempFolder folder;
  options.tracking_file = folder.path() / "rows.csv";
  Tracker tracker(options);
  const auto began = std::chrono::steady_clock::now();
  tracker.start();
  const auto last_row = [&] {
    const std::string rows = read_file((folder.path() / "rows.csv").string()).value_or("");
    const std::size_t end = rows.rfind('\n');
    return end == std::string::npos ? "" : rows.substr(rows.rfind('\n', end - 1) + 1);
  };
  ASSERT_TRUE(fakes::eventually([&] { return last_row().find(",3,80,40,") != std::string::npos; }))
      << "memory of all, utilization of both and of each";
  fake.set_time(Seconds(10.0));
  const auto lost = std::chrono::steady_clock::now();
  ASSERT_TRUE(fakes::eventually([&] { return last_row().find(",,,,") != std::string::npos; }));
  // The last value counts for a while; until then it was told for all of the time.
  ASSERT_TRUE(fakes::eventually([&] {
    return std::chrono::steady_clock::now() - lost > 3 * (lost - began) + std::chrono::seconds(2);
  }));
  tracker.stop();
  const ResourceUsage& usage = tracker.resource_usage();
  EXPECT_EQ(usage.max_gpu_ram.system, 3.0);
  EXPECT_FALSE(usage.gpu_utilization.gpu_percentages.mean_sum_percent)
      << "neither 60, nor 80 of a part of the time";
  EXPECT_FALSE(usage.gpu_utilization.gpu_percentages.max_hardware_percent);
  EXPECT_THAT(usage.to_native_json(), HasSubstr("the driver reported its utilization in only "));
  expect_all_but_gpus(usage);
}

TEST(TrackerGpus, HaveTheMeanAndTheLargestOfAUtilizationThatChanges) {
  fakes::FakeNvml fake("gpu A\nutilization step 0 20 0 5 80 0\n");
  fake.set_time(Seconds(1.0));
  Tracker tracker(options_for(fake));
  tracker.start();
  const auto readings = [&] { return fake.calls("nvmlDeviceGetUtilizationRates"); };
  const auto read_once_more = [&, before = readings()] { return readings() > before; };
  ASSERT_TRUE(fakes::eventually(read_once_more));
  fake.set_time(Seconds(10.0));
  ASSERT_TRUE(fakes::eventually([&, before = readings()] { return readings() > before + 1; }));
  tracker.stop();
  const ProcessingUnitPercentages& percent =
      tracker.resource_usage().gpu_utilization.gpu_percentages;
  ASSERT_TRUE(percent.mean_sum_percent);
  EXPECT_GT(*percent.mean_sum_percent, 20.0);
  EXPECT_LT(*percent.mean_sum_percent, 80.0);
  EXPECT_EQ(percent.max_sum_percent, 80.0);
}

TEST(TrackerGpus, AreLookedAtOnceMoreAtTheEnd) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  std::optional<double> held;
  for (int i = 0; i < 5 && held != 40.0; ++i) {  // the machine may do something else meanwhile
    fakes::FakeNvml fake(std::string(kTwoGpus) +
                         fmt::format("process compute {} 40000000000 from 5\n", ::getpid()));
    fake.set_time(Seconds(1.0));
    TrackerOptions options = options_for(fake);
    options.sleep_time = std::chrono::milliseconds(60000);  // no look in between
    Tracker tracker(options);
    tracker.start();
    fake.set_time(Seconds(10.0));
    tracker.stop();
    held = tracker.resource_usage().max_gpu_ram.main;
  }
  EXPECT_EQ(held, 40.0);
}

TEST(TrackerGpus, ListTheirProcessesAsOftenAsTheyAreLookedAt) {
  fakes::FakeNvml fake("gpu A\n");
  fake.let_time_pass();
  TrackerOptions options = options_for(fake);
  options.sleep_time = std::chrono::milliseconds(100);
  Tracker tracker(options);
  tracker.start();
  const auto lists = [&] { return fake.calls("nvmlDeviceGetComputeRunningProcesses_v3"); };
  ASSERT_TRUE(fakes::eventually([&] { return lists() >= 12; }));
  const auto counter_reads = fake.calls("nvmlDeviceGetTotalEnergyConsumption");  // once a second
  tracker.stop();
  EXPECT_LT(counter_reads, 10U) << "lists came once a second";
}

TEST(TrackerGpus, SayHowTheirFiguresAreMade) {
  const ResourceUsage usage = usage_with(kTwoGpus);
  EXPECT_THAT(usage.to_native_json(), HasSubstr(R"({"keys":["max_gpu_ram"],"mechanism":"what )"));
}

TEST(TrackerGpus, ThatCannotBeReadAreCounted) {
  const ResourceUsage usage = usage_with(std::string(kTwoGpus) + "error * 15\n");
  EXPECT_EQ(usage.gpu_utilization.system_gpu_count, 2U);
  EXPECT_EQ(usage.gpu_utilization.n_expected_gpus, 1U);
  expect_all_but_gpus(usage);
}

TEST(TrackerGpus, ThatCannotBeReadLeaveNoSumsWithoutThem) {
  fakes::FakeNvml fake(std::string(kTwoGpus) + "error * 15\n");
  fake.let_time_pass();
  TrackerOptions options = options_for(fake);
  const fakes::TempFolder folder;
  options.tracking_file = folder.path() / "rows.csv";
  const ResourceUsage usage = track(options);
  EXPECT_FALSE(usage.max_gpu_ram.system_capacity) << "not 80";
  EXPECT_FALSE(usage.max_gpu_ram.system);
  EXPECT_FALSE(usage.max_gpu_ram.combined);
  EXPECT_FALSE(usage.gpu_utilization.gpu_percentages.max_hardware_percent);
  EXPECT_THAT(usage.to_native_json(),
              HasSubstr(R"({"keys":["max_gpu_ram","gpu_utilization.gpu_percentages"],)"
                        R"("reason":"1 of 2 GPUs cannot be read)"));
  const std::string rows = read_file((folder.path() / "rows.csv").string()).value_or("");
  // A sanitizer's own thread is counted too.
  EXPECT_THAT(rows, AnyOf(HasSubstr(",,,,,,1,"), HasSubstr(kSanitized ? ",,,,,,2," : ",,,,,,1,")))
      << "no cell of GPUs between memory and threads";
}

TEST(TrackerGpus, HaveNoCapacityWhereTheyCannotBeListed) {
  fakes::FakeNvml fake("error nvmlInit_v2 999\ngpu A\n");
  TrackerOptions options = options_for(fake);
  const fakes::TempFolder folder;
  options.tracking_file = folder.path() / "rows.csv";
  const ResourceUsage usage = track(options);
  EXPECT_FALSE(usage.gpu_utilization.system_gpu_count);
  EXPECT_FALSE(usage.max_gpu_ram.system_capacity) << "not 0";
  const std::string rows = read_file((folder.path() / "rows.csv").string()).value_or("");
  EXPECT_THAT(rows, testing::ContainsRegex("gigabytes,gigabytes,hours,[0-9.]+,,[0-9]+,[0-9]+,,0"))
      << "empty beside a number that is not known";
}

TEST(TrackerGpus, ThatCannotBeReadDoNotTakeTheUtilizationOfChosenOnes) {
  fakes::FakeNvml fake(std::string(kTwoGpus) + "error * 15\n");
  fake.let_time_pass();
  TrackerOptions options = options_for(fake);
  options.gpus = GpuSelection::named({"GPU-aaaa"});
  const ResourceUsage usage = track(options);
  EXPECT_EQ(usage.gpu_utilization.gpu_percentages.mean_sum_percent, 60.0);
  EXPECT_FALSE(usage.max_gpu_ram.system) << "memory is always that of all";
}

TEST(TrackerGpus, ReportTheEnergyOfAGaugeWithoutAGap) {
  MeasuredEnergy energy;
  // On a busy machine a reading can come too late.
  for (int i = 0; i < 5 && (!energy.energy || energy.unknown > Seconds(0)); ++i) {
    const ResourceUsage usage = usage_with("gpu Tesla M40\ncounter none\npower step 0 100\n");
    ASSERT_TRUE(usage.energy);
    ASSERT_EQ(usage.energy->domains.size(), 1U);
    energy = usage.energy->domains[0].energy;
  }
  ASSERT_TRUE(energy.energy);
  EXPECT_EQ(energy.unknown, Seconds(0));
  EXPECT_FALSE(energy.flags.has(Flag::gap));
}

TEST(TrackerGpus, ReportTheirEnergy) {
  fakes::FakeNvml fake("gpu A\nuuid GPU-aaaa\npower step 0 100\n");
  fake.let_time_pass();
  TrackerOptions options = options_for(fake);
  options.time_unit = "seconds";
  const ResourceUsage usage = track(options);
  ASSERT_TRUE(usage.energy);
  ASSERT_EQ(usage.energy->domains.size(), 1U);
  const DomainEnergy& gpu = usage.energy->domains[0];
  EXPECT_EQ(gpu.domain, "nvidia_gpu_0");
  ASSERT_TRUE(gpu.energy.energy);
  const double known_s = usage.compute_time.time - gpu.energy.unknown.count();
  EXPECT_NEAR(gpu.energy.energy->si(), 100.0 * known_s, gpu.energy.uncertainty.si() + 1.0);
  EXPECT_THAT(usage.to_native_json(), HasSubstr(R"("refused":[{"source":"powercap")"));
}

TEST(TrackerGpus, AreChosenByTheirUuids) {
  fakes::FakeNvml fake(kTwoGpus);
  fake.let_time_pass();
  TrackerOptions options = options_for(fake);
  options.gpus = GpuSelection::named({"GPU-bbbb"});
  const ResourceUsage usage = track(options);
  EXPECT_EQ(usage.gpu_utilization.gpu_percentages.mean_sum_percent, 20.0);
  EXPECT_EQ(usage.gpu_utilization.n_expected_gpus, 1U);
  EXPECT_EQ(usage.max_gpu_ram.system, 3.0) << "memory is always that of all";
  options.gpus = GpuSelection::named({"GPU-cccc"});
  EXPECT_THAT(
      [&] { const Tracker tracker(options); },
      testing::ThrowsMessage<std::exception>(HasSubstr("there are 0 (GPU-aaaa), 1 (GPU-bbbb)")));
  options.gpus = GpuSelection::all();
  options.gpu_brand = "amd";
  EXPECT_EQ(track(options).gpu_utilization.system_gpu_count, 0U);
}

std::ptrdiff_t threads_here() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST(TrackerGpus, AreReadFromStartToStopAndNotCountedAsWorkOfTheProcess) {
  std::thread([] {}).join();  // a sanitizer's own thread comes with the first
  const std::ptrdiff_t before = threads_here();
  fakes::FakeNvml fake(kTwoGpus);
  fake.let_time_pass();
  Tracker tracker(options_for(fake));
  ASSERT_TRUE(fakes::eventually([&] { return threads_here() == before; })) << "none before a start";
  tracker.start();
  EXPECT_EQ(threads_here(), before + 1 + 2 * 2);
  std::this_thread::sleep_for(50ms);
  tracker.stop();
  EXPECT_TRUE(fakes::eventually([&] { return threads_here() == before; })) << "none after a stop";
  EXPECT_EQ(tracker.resource_usage().cpu_utilization.main_n_threads, before);
}

TEST(TrackerGpus, DoNotHoldUpTheStopWhereTheirDriverHangs) {
  auto shortest = std::chrono::nanoseconds::max();
  for (int i = 0; i < 5; ++i) {  // the machine may do something else meanwhile
    fakes::FakeNvml fake(std::string(kTwoGpus) + "hang nvmlDeviceGetUtilizationRates from 5\n");
    fake.set_time(Seconds(1.0));
    Tracker tracker(options_for(fake));
    tracker.start();
    fake.set_time(Seconds(10.0));
    const std::uint64_t before = fake.calls("nvmlDeviceGetUtilizationRates");
    ASSERT_TRUE(fakes::eventually(
        [&] { return fake.calls("nvmlDeviceGetUtilizationRates") >= before + 2; }));
    const auto begin = std::chrono::steady_clock::now();
    tracker.stop();
    shortest =
        std::min<std::chrono::nanoseconds>(shortest, std::chrono::steady_clock::now() - begin);
    fake.release_hung();
  }
  EXPECT_LT(shortest, 50ms);
}

}  // namespace
}  // namespace wattle
