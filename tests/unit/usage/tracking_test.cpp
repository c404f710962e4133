#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "tracked_machine.hpp"
#include "usage/tracked_process.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using TrackedProcess = TrackedMachine;

TEST_F(TrackedProcess, ReportsTheEnergyOfTheProcessors) {
  fakes::PowercapTree powercap;
  powercap.add_zone("intel-rapl:0", "package-0");
  const auto zone = powercap.zone_path("intel-rapl:0");
  fakes::set_energy_uj(zone, 1'000'000);
  options_.system.sysfs = powercap.system().sysfs;
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  fakes::set_energy_uj(zone, 21'000'000);
  (void)tracking.sample();
  EXPECT_FALSE(tracking.usage().energy) << "GPUs are asked at the end only";
  clock_.advance(1s);
  fakes::set_energy_uj(zone, 51'000'000);
  tracking.end();
  const auto energy = tracking.usage().energy;
  ASSERT_TRUE(energy);
  ASSERT_EQ(energy->domains.size(), 1U);
  const DomainEnergy& package = energy->domains[0];
  EXPECT_EQ(package.domain, "package_0");
  ASSERT_TRUE(package.energy.energy);
  EXPECT_NEAR(package.energy.energy->si(), 50.0, 0.001);
  EXPECT_EQ(package.energy.unknown.count(), 0.0);
  EXPECT_EQ(package.source, "powercap");
}

/// Busy in the first 300 ms of each second.
std::chrono::milliseconds busy_until(std::chrono::milliseconds time) {
  return time / 1s * 300ms + std::min(time % 1s, 300ms);
}

struct Rhythm {
  std::chrono::milliseconds phase;
  std::chrono::milliseconds period;  ///< of the looks
};

class PeriodicLoad : public TrackedMachine, public testing::WithParamInterface<Rhythm> {};

TEST_P(PeriodicLoad, ReadsAsWhatItIs) {
  const auto [phase, period] = GetParam();
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  for (auto time = period; time <= 20s; time += period) {
    clock_.advance(period);
    const auto used = busy_until(phase + time) - busy_until(phase);
    files_.put({.pid = 100, .user = static_cast<std::uint64_t>(used / 10ms)});
    EXPECT_TRUE(tracking.sample());
  }
  tracking.end();
  const ProcessingUnitPercentages main = tracking.usage().cpu_utilization.main;
  EXPECT_NEAR(main.mean_sum_percent.value_or(0), 30.0, 1.0);
  EXPECT_NEAR(main.mean_hardware_percent.value_or(0), 15.0, 0.5);
  // Other spans than a second have more of some bursts.
  if (period == 1s) {
    EXPECT_NEAR(main.max_sum_percent.value_or(0), 30.0, 1.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Rhythms, PeriodicLoad, testing::ValuesIn([] {
                           std::vector<Rhythm> rhythms;
                           for (const auto phase : {0ms, 100ms, 250ms, 300ms, 650ms, 990ms}) {
                             for (const auto period : {400ms, 1000ms, 2500ms}) {
                               rhythms.push_back({phase, period});
                             }
                           }
                           return rhythms;
                         }()),
                         [](const auto& test) {
                           return std::to_string(test.param.phase.count()) + "_ms_looked_at_each_" +
                                  std::to_string(test.param.period.count()) + "_ms";
                         });

TEST_F(TrackedProcess, ReportsTheTimeOfTheRegionWhateverThePeriod) {
  for (const std::chrono::nanoseconds period : {100ms, 1000ms, 5000ms}) {
    options_.sleep_time = period;
    UsageObservation tracking = observe_process(options_, clock_);
    tracking.begin();
    clock_.advance(950ms);
    tracking.end();
    EXPECT_DOUBLE_EQ(tracking.usage().compute_time.time, 0.95);
  }
}

TEST_F(TrackedProcess, EndsTheTimeWhereTheProcessEnds) {
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  files_.take(100);
  EXPECT_FALSE(tracking.sample());
  clock_.advance(1h);
  EXPECT_FALSE(tracking.sample());
  tracking.end();
  EXPECT_DOUBLE_EQ(tracking.usage().compute_time.time, 1.0);
}

TEST_F(TrackedProcess, LeavesOutWhatTrackersOfThisProcessTake) {
  options_.process_id = ::getpid();
  options_.system.procfs = "/proc";
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.sample({.cpu = 1h, .threads = 0});
  tracking.end({.cpu = 1h, .threads = 1000});
  EXPECT_EQ(tracking.usage().cpu_utilization.main.mean_sum_percent, 0.0);
}

TEST_F(TrackedProcess, LeavesTheCostOfTrackersOutOfTheTimesToo) {
  options_.process_id = ::getpid();
  files_.put({.pid = ::getpid()});
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  files_.put({.pid = ::getpid(), .user = 60, .system = 20});
  tracking.sample({.cpu = 200ms, .threads = 0});
  tracking.end({.cpu = 200ms, .threads = 0});
  const ResourceUsage usage = tracking.usage();
  EXPECT_NEAR(usage.cpu_user.value_or(Seconds(0)).count(), 0.45, 1e-9);
  EXPECT_NEAR(usage.cpu_system.value_or(Seconds(0)).count(), 0.15, 1e-9);
  ASSERT_TRUE(usage.still_running);
  ASSERT_EQ(usage.still_running->size(), 1U);
  EXPECT_NEAR(usage.still_running->front().cpu.count(), 0.6, 1e-9);
}

TEST_F(TrackedProcess, CountsMemoryInItsUnit) {
  files_.put({.pid = 100, .rss_kib = 1024, .private_kib = 512});
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(1s);
  tracking.end();
  const MaxRAM ram = tracking.usage().max_ram;
  EXPECT_EQ(ram.main.total_rss, 1048576.0) << "bytes: a MiB is no MB";
  EXPECT_EQ(ram.main.private_rss, 524288.0);
  EXPECT_EQ(ram.system_capacity, 1024e6);
  EXPECT_EQ(ram.system, 409.6e6);
  options_.ram_unit = "megabytes";
  UsageObservation other = observe_process(options_, clock_);
  other.begin();
  other.end();
  EXPECT_DOUBLE_EQ(other.usage().max_ram.main.total_rss.value_or(0), 1.048576);
}

TEST_F(TrackedProcess, SaysWhyTheMachinesBusiestSecondIsNotKnownOfALongTime) {
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  clock_.advance(20s);
  files_.folder().write("stat", "cpu 1000 0 0 3000 0 0 0 0 0 0\ncpu0 0\ncpu1 0\nintr 0\n");
  tracking.end();
  const ResourceUsage usage = tracking.usage();
  EXPECT_TRUE(usage.cpu_utilization.system.mean_sum_percent);
  EXPECT_FALSE(usage.cpu_utilization.system.max_sum_percent);
  EXPECT_THAT(usage.to_native_json(), HasSubstr("fewer than two of these lie between samples"));
}

TEST_F(TrackedProcess, GivesMemoryNoDigitsOfItsArithmetic) {
  files_.put({.pid = 100, .rss_kib = 1840, .peak_kib = 1840});
  options_.ram_unit = "megabytes";
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  tracking.end();
  EXPECT_THAT(tracking.usage().to_json(), HasSubstr(R"("main":{"total_rss":1.88416,)"));
}

TEST_F(TrackedProcess, CountsMemoryThatWasHeldBetweenTwoLooks) {
  files_.put({.pid = 100, .rss_kib = 5600, .pss_kib = 5600, .private_kib = 5600, .peak_kib = 5600});
  UsageObservation tracking = observe_process(options_, clock_);
  tracking.begin();
  files_.put(
      {.pid = 100, .rss_kib = 5600, .pss_kib = 5600, .private_kib = 5600, .peak_kib = 425000});
  clock_.advance(1s);
  tracking.sample();
  tracking.end();
  const ResourceUsage usage = tracking.usage();
  EXPECT_EQ(usage.max_ram.main.total_rss, 425000 * 1024.0);
  EXPECT_EQ(usage.max_ram.combined.total_rss, 425000 * 1024.0);
  EXPECT_EQ(usage.peak_rss_bytes, std::uint64_t{425000} * 1024);
}

TEST_F(TrackedProcess, ListsWhatIsValid) {
  const TrackerOptions good = options_;
  options_.ram_unit = "gigabyte";
  EXPECT_THAT(message(), HasSubstr("valid RAM unit. Valid values are bytes, gigabytes"));
  options_ = good;
  options_.gpu_ram_unit = "GB";
  EXPECT_THAT(message(), HasSubstr("valid GPU RAM unit"));
  options_ = good;
  options_.time_unit = "h";
  EXPECT_THAT(message(), HasSubstr("Valid values are days, hours, minutes, seconds"));
  options_ = good;
  options_.gpu_brand = "matrox";
  EXPECT_THAT(message(), HasSubstr("Valid values are amd, intel, nvidia"));
  options_.gpu_brand = "intel";
  EXPECT_EQ(message(), "");
  options_ = good;
  options_.gpus = GpuSelection::named({"GPU-x"});
  EXPECT_THAT(message(), HasSubstr("no GPU is called 'GPU-x'; no GPU was found"));
  options_ = good;
  options_.n_expected_cores = 0;
  EXPECT_THAT(message(), HasSubstr("at least 1"));
}

TEST_F(TrackedProcess, TakesAPeriodFromAHundredthOfASecond) {
  for (const std::chrono::nanoseconds wrong :
       {0ns, 9'999'999ns, -1ns, std::chrono::nanoseconds::max()}) {
    options_.sleep_time = wrong;
    EXPECT_THAT(message(), HasSubstr("from 0.01 to")) << wrong.count();
  }
  options_.sleep_time = std::chrono::milliseconds(10);
  EXPECT_EQ(message(), "");
}

TEST_F(TrackedProcess, RefusesAnotherProcessThatHasGotTheNumberBeforeTheBegin) {
  UsageObservation tracking = observe_process(options_, clock_);
  files_.put({.pid = 100, .start_time = 5000});
  EXPECT_THAT([&] { tracking.begin(); },
              testing::ThrowsMessage<InvalidArgument>(HasSubstr("process 100: it has ended")));
  files_.put({.pid = 100});
  tracking.begin();
}

TEST_F(TrackedProcess, IsUnknownWithAReasonIfTheObservationDoesNotNeedIt) {
  UsageObservation observation(
      {}, clock_, {.system = options_.system, .root = 4711, .processes = options_.system});
  observation.begin();
  clock_.advance(1s);
  EXPECT_TRUE(observation.sample());
  observation.end();
  EXPECT_EQ(observation.processes(), nullptr);
  EXPECT_EQ(Seconds(observation.ended() - observation.began()), 1s);
  ResourceUsage usage;
  observation.fill_processes(usage, 0);
  ASSERT_EQ(usage.unknown.size(), 1U);
  EXPECT_THAT(usage.unknown[0].reason, HasSubstr("there is no such process"));
}

TEST_F(TrackedProcess, RefusesAProcessThatIsNotThere) {
  for (const int wrong : {4711, 0, -1}) {
    options_.process_id = wrong;
    EXPECT_THAT(message(), HasSubstr("there is no such process")) << wrong;
  }
}

}  // namespace
}  // namespace wattle
