#include "run_monitor/tables/samples_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Rows at milliseconds after midnight.
class SamplesTableTest : public testing::Test {
 protected:
  void add(int ms, const std::string& device, const std::string& quantity, double value,
           const std::string& index = "", const std::string& uuid = "") {
    table_.take(fmt::format("2026-11-21T00:{:02}:{:02}.{:03}+00:00,{},{},{},{},{}", ms / 60'000,
                            ms / 1000 % 60, ms % 1000, device, index, uuid, quantity, value));
  }
  void begin_run(int ms) { add(ms, "monitor", "interval_s", 1); }
  [[nodiscard]] const DomainSummary domain(std::size_t i = 0) const {
    return table_.result().domains.at(i);
  }

  SamplesTable table_;
};

TEST_F(SamplesTableTest, HasTheMonitorsOwnEnergyOfAGpu) {
  begin_run(0);
  for (int s = 0; s <= 10; s += 2) {
    add(s * 1000, "nvidia_gpu_1", "power_w", s % 4 == 0 ? 400 : 10, "1", "GPU-b");
    if (s == 0) continue;
    add(s * 1000, "nvidia_gpu_1", "energy_j", 120.0 * s, "1", "GPU-b");
    add(s * 1000, "nvidia_gpu_1", "energy_uncertainty_j", 15, "1", "GPU-b");
  }
  add(10'000, "nvidia_gpu_1", "energy_flag_disagrees", 1, "1", "GPU-b");
  const SamplesResult result = table_.result();
  ASSERT_THAT(result.gpus.gpus, SizeIs(1));
  const GpuSummary& gpu = result.gpus.gpus[0];
  EXPECT_EQ(gpu.name, "1");
  EXPECT_EQ(gpu.energy, Joules(1200.0));
  EXPECT_EQ(gpu.energy_uncertainty, Joules(15.0));
  EXPECT_EQ(gpu.energy_method, Method::counter);
  EXPECT_EQ(gpu.energy_flags, Flags::of(Flag::disagrees));
  EXPECT_EQ(gpu.power_watts_mean, 120.0) << "of the energy, not of the rows";
  EXPECT_EQ(gpu.power_watts_max, 400.0);
  EXPECT_EQ(result.gpus.all.energy, Joules(1200.0));
  EXPECT_EQ(result.machine.energy.energy, Joules(1200.0));
}

TEST_F(SamplesTableTest, TakesADeviceForItsUuid) {
  begin_run(0);
  add(0, "nvidia_gpu_0", "power_w", 300, "0", "GPU-a");
  add(10'000, "nvidia_gpu_0", "energy_j", 3000, "0", "GPU-a");
  begin_run(20'000);
  add(20'000, "nvidia_gpu_0", "power_w", 400, "0", "GPU-b");
  add(30'000, "nvidia_gpu_0", "energy_j", 4000, "0", "GPU-b");
  const SamplesResult result = table_.result();
  ASSERT_THAT(result.gpus.gpus, SizeIs(2));
  EXPECT_EQ(result.gpus.gpus[0].name, "0 GPU-a");
  EXPECT_EQ(result.gpus.gpus[0].energy, Joules(3000.0));
  EXPECT_EQ(result.gpus.gpus[0].power_watts_max, 300.0);
  EXPECT_EQ(result.gpus.gpus[1].name, "0 GPU-b");
  EXPECT_EQ(result.gpus.gpus[1].energy, Joules(4000.0));
  EXPECT_THAT(result.machine.energy_covers,
              ElementsAre("nvidia_gpu_0 GPU-a", "nvidia_gpu_0 GPU-b"));
  EXPECT_EQ(result.machine.energy.energy, Joules(7000.0));
}

TEST_F(SamplesTableTest, SaysHowManyRunsItHas) {
  begin_run(0);
  EXPECT_EQ(table_.note(), "");
  begin_run(20'000);
  EXPECT_EQ(table_.note(), "2 runs of a monitor");
}

TEST_F(SamplesTableTest, LeavesTheTimeUnknownInWhichADeviceHasNoRows) {
  begin_run(0);
  for (int s = 0; s <= 100; s += 2) {
    add(s * 1000, "cpu", "user_percent", 50);
    if (s >= 20 && s <= 60)
      add(s * 1000, "nvidia_gpu_0", "energy_j", 100.0 * s - 2000, "0", "GPU-a");
  }
  const GpuSummary late_and_gone = table_.result().gpus.gpus.at(0);
  EXPECT_EQ(late_and_gone.energy, Joules(4000.0));
  EXPECT_EQ(late_and_gone.energy_unknown, Seconds(60.0));
  EXPECT_TRUE(late_and_gone.energy_flags.has(Flag::gap));
  EXPECT_EQ(late_and_gone.power_watts_mean, 100.0);
  begin_run(200'000);
  EXPECT_EQ(table_.result().gpus.gpus.at(0).energy_unknown, Seconds(60.0)) << "not in the next run";
}

TEST_F(SamplesTableTest, HasTheEnergyOfProcessorsAndMemory) {
  begin_run(0);
  add(10'000, "package_0", "energy_j", 500, "0");
  add(10'000, "package_0", "energy_uncertainty_j", 3, "0");
  add(10'000, "dram_0", "energy_j", 50, "0");
  add(10'000, "dram_0", "energy_uncertainty_j", 4, "0");
  for (const char* domain : {"package_0", "dram_0"}) add(10'000, domain, "energy_common_j", 0, "0");
  add(10'000, "dram_0", "energy_unknown_s", 5, "0");
  add(10'000, "core_0", "energy_j", 400, "0");
  const SamplesResult result = table_.result();
  ASSERT_THAT(result.domains, SizeIs(3));
  EXPECT_EQ(result.domains[0].name, "package_0");
  EXPECT_EQ(result.domains[0].energy.energy, Joules(500.0));
  EXPECT_EQ(result.domains[0].energy.uncertainty, Joules(3.0));
  EXPECT_EQ(result.domains[0].mean_power, Watts(50.0));
  EXPECT_EQ(result.domains[1].mean_power, Watts(10.0)) << "over the time that is known";
  EXPECT_EQ(result.machine.energy.energy, Joules(550.0)) << "cores are in their package";
  EXPECT_EQ(result.machine.energy.uncertainty, Joules(5.0));
  EXPECT_EQ(result.machine.energy.unknown, Seconds(5.0));
  EXPECT_THAT(result.machine.energy_covers, ElementsAre("package_0", "dram_0"));
}

TEST_F(SamplesTableTest, AddsUpTheRunsOfAFile) {
  begin_run(0);
  add(10'000, "package_0", "energy_j", 100, "0");
  add(10'000, "package_0", "energy_uncertainty_j", 3, "0");
  begin_run(60'000);
  add(70'000, "package_0", "energy_j", 300, "0");
  add(70'000, "package_0", "energy_uncertainty_j", 4, "0");
  EXPECT_EQ(domain().energy.energy, Joules(400.0));
  EXPECT_EQ(domain().energy.uncertainty, Joules(7.0)) << "all of it may come back";
  EXPECT_EQ(domain().mean_power, Watts(20.0)) << "of the time in which a monitor ran";
}

TEST_F(SamplesTableTest, AddsUpWhatComesBackInEachRunWithItsSign) {
  for (const int began : {0, 60'000, 120'000}) {
    begin_run(began);
    add(began + 10'000, "package_0", "energy_j", 100, "0");
    add(began + 10'000, "package_0", "energy_uncertainty_j", 5, "0");
    add(began + 10'000, "package_0", "energy_common_j", -4, "0");
  }
  EXPECT_NEAR(domain().energy.common.si(), -12.0, 1e-9);
  EXPECT_NEAR(domain().energy.uncertainty.si(), std::sqrt(3.0 * 9.0 + 144.0), 1e-9);
}

TEST_F(SamplesTableTest, NamesADomainWhoseCounterIsStuck) {
  begin_run(0);
  add(10'000, "package_0", "energy_unknown_s", 10, "0");
  add(10'000, "package_0", "energy_flag_stuck", 1, "0");
  EXPECT_EQ(domain().energy.energy, std::nullopt);
  EXPECT_EQ(domain().energy.unknown, Seconds(10.0));
  EXPECT_TRUE(domain().energy.flags.has(Flag::stuck));
  EXPECT_EQ(table_.result().machine.energy.energy, std::nullopt);
}

TEST_F(SamplesTableTest, NamesWhatTheTotalLacks) {
  begin_run(0);
  add(0, "package_2", "not_measured: energy_uj is readable by root only", 1);
  add(0, "package_3", "not_measured", 1);  // by an older monitor
  add(10'000, "package_0", "energy_j", 500, "0");
  add(10'000, "package_1", "energy_unknown_s", 10, "1");
  add(10'000, "package_1", "energy_flag_stuck", 1, "1");
  add(10'000, "nvidia_gpu_0", "energy_unknown_s", 10, "0");
  add(10'000, "amd_gpu_0", "utilization_percent", 3, "0");  // inside of a processor
  EXPECT_THAT(table_.result().machine.total_missing,
              ElementsAre(MissingEnergy{"cpu", "package_2: energy_uj is readable by root only"},
                          MissingEnergy{"cpu", "package_3: hw_samples.csv does not say why"},
                          MissingEnergy{"cpu", "package_1: its counter does not move"},
                          MissingEnergy{"dram", "this processor has no counter for its memory"},
                          MissingEnergy{"gpu", "nvidia_gpu_0: it could not be read throughout"}));
}

TEST_F(SamplesTableTest, NamesWhatOneOfItsRunsLacks) {
  begin_run(0);
  add(0, "dram_0", "not_measured", 1);
  add(10'000, "package_0", "energy_j", 500, "0");
  begin_run(20'000);
  for (const char* const name : {"package_0", "dram_0", "nvidia_gpu_0"}) {
    add(30'000, name, "energy_j", 500, "0");
  }
  EXPECT_THAT(table_.result().machine.total_missing,
              ElementsAre(MissingEnergy{"dram", "dram_0: hw_samples.csv does not say why"}));
}

TEST_F(SamplesTableTest, NamesAKindWhoseDevicesCouldNotBeListed) {
  begin_run(0);
  add(0, "gpu", "not_measured: no NVIDIA driver library", 1);
  for (const char* const name : {"package_0", "dram_0", "nvidia_gpu_0"}) {
    add(10'000, name, "energy_j", 500, "0");
  }
  EXPECT_THAT(table_.result().machine.total_missing,
              ElementsAre(MissingEnergy{"gpu", "no NVIDIA driver library"}));
}

TEST_F(SamplesTableTest, HasWhatAFlagIsAtTheEnd) {
  begin_run(0);
  add(1000, "package_0", "energy_j", 1, "0");
  add(1000, "package_0", "energy_flag_short_window", 1, "0");
  add(2000, "package_0", "energy_flag_short_window", 0, "0");
  EXPECT_TRUE(domain().energy.flags.none());
}

TEST_F(SamplesTableTest, CallsTheGpusOfOtherMakersByTheirNames) {
  begin_run(0);
  add(0, "amd_gpu_0", "utilization_percent", 40, "0");
  add(1000, "amd_gpu_0", "utilization_percent", 60, "0");
  add(1000, "intel_gpu_0", "memory_used_bytes", 3.0 * 1048576, "0");
  const GpuTable gpus = table_.result().gpus;
  ASSERT_THAT(gpus.gpus, SizeIs(2));
  EXPECT_EQ(gpus.gpus[0].name, "amd_gpu_0");
  EXPECT_EQ(gpus.gpus[0].gpu_util_mean_pct, 50.0);
  EXPECT_EQ(gpus.gpus[1].peak_vram_mb, 3.0);
}

TEST_F(SamplesTableTest, WeighsAPartialRowByItsLength) {
  begin_run(0);
  add(10'000, "cpu", "user_percent", 0);
  add(10'005, "cpu", "user_percent", 100);
  EXPECT_NEAR(*table_.result().cpu_user_percent, 0.05, 1e-3);
}

TEST_F(SamplesTableTest, HasTheMemoryAndTheTransfersOfTheMachine) {
  begin_run(0);
  add(0, "memory", "used_bytes", 3e9);
  add(0, "disk", "read_bytes", 7e9);
  add(0, "network", "sent_bytes", 100);
  add(1000, "memory", "used_bytes", 5e9);
  add(1000, "memory", "total_bytes", 8e9);
  add(1000, "disk", "read_bytes", 7e9 + 4096);
  add(1000, "network", "sent_bytes", 50);
  const MachineSummary machine = table_.result().machine;
  EXPECT_EQ(machine.peak_memory_bytes, 5'000'000'000U);
  EXPECT_EQ(machine.memory_bytes, 8'000'000'000U);
  EXPECT_EQ(machine.disk_read_bytes, 4096U);
  EXPECT_EQ(machine.disk_written_bytes, std::nullopt);
  EXPECT_EQ(machine.network_sent_bytes, 0U) << "the counter started again";
}

TEST_F(SamplesTableTest, LeavesOutRowsThatAreNotWhole) {
  table_.take("time,device,index,uuid,quantity,value");
  for (const char* line : {"", "2026-11-21T00:00:00.000+00:00,cpu,,,user_percent",
                           "2026-11-21T00:00:00.000+00:00,cpu,,,user_percent,5,6",
                           "2026-11-21T00:00:00.000,cpu,,,user_percent,5", ",cpu,,,user_percent,5",
                           "2026-11-21T00:00:00.000+00:00,cpu,,,user_percent,much"}) {
    table_.take(line);
  }
  EXPECT_EQ(table_.rows(), 0U);
  EXPECT_EQ(table_.bad_rows(), 6U);
  EXPECT_THAT(table_.result().domains, IsEmpty());
}

}  // namespace
}  // namespace wattle
