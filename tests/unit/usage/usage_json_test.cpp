#include "usage/files/usage_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle {
namespace {

using testing::HasSubstr;

ProcessingUnitPercentages percent(double max, double mean) {
  return {.max_sum_percent = max,
          .max_hardware_percent = max / 2,
          .mean_sum_percent = mean,
          .mean_hardware_percent = mean / 2};
}

ResourceUsage usage_of_two_processors() {
  ResourceUsage usage;
  usage.max_ram.system_capacity = 25276514304.0 * 1e-9;
  usage.max_ram.system = 0.22823321600000002;
  usage.max_ram.main = {.total_rss = 0.053809152, .private_rss = 0.0225, .shared_rss = 0.031309152};
  usage.max_ram.descendants = {.total_rss = 0.0, .private_rss = 0.0, .shared_rss = 0.0};
  usage.max_ram.combined = usage.max_ram.main;
  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.system_core_count = cpu.n_expected_cores = 2;
  cpu.system = percent(192.2, 186.55);
  cpu.main = cpu.combined = percent(74.7, 64.3);
  cpu.descendants = percent(0.0, 0.0);
  cpu.main_n_threads = cpu.combined_n_threads = 3;
  cpu.descendants_n_threads = 0;
  usage.gpu_utilization.system_gpu_count = usage.gpu_utilization.n_expected_gpus = 0;
  usage.compute_time = {.unit = "seconds", .time = 2.150352954864502};
  return usage;
}

TEST(UsageJson, WritesASumOfTimesWithoutTheDigitsOfItsArithmetic) {
  ResourceUsage usage = usage_of_two_processors();
  usage.cpu_user = Seconds(0.0001);
  usage.cpu_system = Seconds(0.209);
  EXPECT_NE((*usage.cpu_user + *usage.cpu_system).count(), 0.2091) << "in double";
  EXPECT_THAT(dumped(json_of(usage)), HasSubstr("\"cpu_s\":0.2091,"));
}

TEST(UsageJson, HasTheKeysAndTheOrderOfGpuTracker) {
  EXPECT_EQ(
      usage_of_two_processors().to_json(),
      R"({"max_ram":{"unit":"gigabytes","system_capacity":25.276514304000003,)"
      R"("system":0.22823321600000002,)"
      R"("main":{"total_rss":0.053809152,"private_rss":0.0225,"shared_rss":0.031309152},)"
      R"("descendants":{"total_rss":0.0,"private_rss":0.0,"shared_rss":0.0},)"
      R"("combined":{"total_rss":0.053809152,"private_rss":0.0225,"shared_rss":0.031309152}},)"
      R"("max_gpu_ram":{"unit":"gigabytes","system_capacity":null,"system":null,"main":null,)"
      R"("descendants":null,"combined":null},)"
      R"("cpu_utilization":{"system_core_count":2,"n_expected_cores":2,)"
      R"("system":{"max_sum_percent":192.2,"max_hardware_percent":96.1,)"
      R"("mean_sum_percent":186.55,"mean_hardware_percent":93.275},)"
      R"("main":{"max_sum_percent":74.7,"max_hardware_percent":37.35,)"
      R"("mean_sum_percent":64.3,"mean_hardware_percent":32.15},)"
      R"("descendants":{"max_sum_percent":0.0,"max_hardware_percent":0.0,)"
      R"("mean_sum_percent":0.0,"mean_hardware_percent":0.0},)"
      R"("combined":{"max_sum_percent":74.7,"max_hardware_percent":37.35,)"
      R"("mean_sum_percent":64.3,"mean_hardware_percent":32.15},)"
      R"("main_n_threads":3,"descendants_n_threads":0,"combined_n_threads":3},)"
      R"("gpu_utilization":{"system_gpu_count":0,"n_expected_gpus":0,)"
      R"("gpu_percentages":{"max_sum_percent":null,"max_hardware_percent":null,)"
      R"("mean_sum_percent":null,"mean_hardware_percent":null}},)"
      R"("compute_time":{"unit":"seconds","time":2.150352954864502}})");
}

TEST(UsageText, HasTheLayoutOfGpuTracker) {
  EXPECT_EQ(usage_of_two_processors().to_text(), R"(Max RAM:
   Unit: gigabytes
   System capacity: 25.277
   System: 0.228
   Main:
      Total RSS: 0.054
      Private RSS: 0.022
      Shared RSS: 0.031
   Descendants:
      Total RSS: 0.0
      Private RSS: 0.0
      Shared RSS: 0.0
   Combined:
      Total RSS: 0.054
      Private RSS: 0.022
      Shared RSS: 0.031
Max GPU RAM:
   Unit: gigabytes
   System capacity: unknown
   System: unknown
   Main: unknown
   Descendants: unknown
   Combined: unknown
CPU utilization:
   System core count: 2
   Number of expected cores: 2
   System:
      Max sum percent: 192.2
      Max hardware percent: 96.1
      Mean sum percent: 186.55
      Mean hardware percent: 93.275
   Main:
      Max sum percent: 74.7
      Max hardware percent: 37.35
      Mean sum percent: 64.3
      Mean hardware percent: 32.15
   Descendants:
      Max sum percent: 0.0
      Max hardware percent: 0.0
      Mean sum percent: 0.0
      Mean hardware percent: 0.0
   Combined:
      Max sum percent: 74.7
      Max hardware percent: 37.35
      Mean sum percent: 64.3
      Mean hardware percent: 32.15
   Main number of threads: 3
   Descendants number of threads: 0
   Combined number of threads: 3
GPU utilization:
   System GPU count: 0
   Number of expected GPUs: 0
   GPU percentages:
      Max sum percent: unknown
      Max hardware percent: unknown
      Mean sum percent: unknown
      Mean hardware percent: unknown
Compute time:
   Unit: seconds
   Time: 2.15)");
}

TEST(UsageJson, ReportsTheEnergyOfTheMachine) {
  ResourceUsage usage = usage_of_two_processors();
  usage.energy.emplace();
  usage.energy->domains.push_back({.domain = "core_0",
                                   .energy = {{.energy = Joules(12.5),
                                               .uncertainty = Joules(0.25),
                                               .unknown = Seconds(0.5),
                                               .flags = Flags::of(Flag::reset)}},
                                   .source = "perf",
                                   .contained_in = "package_0"});
  usage.energy->refused.push_back({.subject = "GPUs", .reason = "why", .source = "nvml"});
  const auto json = nlohmann::ordered_json::parse(usage.to_native_json());
  EXPECT_EQ(dumped(json["energy"]),
            R"({"scope":"machine","domains":[{"name":"core_0","energy_j":12.5,)"
            R"("uncertainty_j":0.25,"unknown_s":0.5,"method":"counter","quantity":"energy",)"
            R"("source":"perf","coverage":null,"alternatives":[],"contained_in":"package_0",)"
            R"("flags":["reset"]}],"refused":[{"source":"nvml",)"
            R"("subject":"GPUs","reason":"why","remedy":null}]})");
}

TEST(UsageJson, HasFiguresOfItsOwnAfterTheGroups) {
  ResourceUsage usage = usage_of_two_processors();
  usage.cpu_user = Seconds(1.5);
  usage.cpu_system = Seconds(0.25);
  usage.io_read_bytes = 4096;
  usage.storage_written_bytes = 512;
  usage.major_faults = 2;
  usage.involuntary_switches = 3;
  usage.still_running = {{.pid = 7, .name = "a\xff", .cpu = Seconds(1.0)}};
  usage.unknown = {{{"peak_pss_bytes"}, "why"}};
  usage.cpu_task_clock = Seconds(2.5);
  usage.mismatches = {{{"cpu_s"}, "too little"}};
  const auto json = nlohmann::ordered_json::parse(usage.to_native_json());
  EXPECT_EQ(json["schema"], "wattle.track/2");
  EXPECT_EQ(json["resource_usage"]["cpu_s"], 1.75);
  EXPECT_EQ(json["resource_usage"]["io_read_bytes"], 4096);
  EXPECT_EQ(json["resource_usage"]["io_written_bytes"], nullptr);
  EXPECT_EQ(json["resource_usage"]["storage_written_bytes"], 512);
  EXPECT_EQ(json["resource_usage"]["major_faults"], 2);
  EXPECT_EQ(json["resource_usage"]["involuntary_switches"], 3);
  EXPECT_EQ(json["resource_usage"]["still_running"][0]["name"], "a\xef\xbf\xbd");
  EXPECT_EQ(json["resource_usage"]["peak_pss_bytes"], nullptr);
  EXPECT_EQ(json["resource_usage"]["unknown"][0]["reason"], "why");
  EXPECT_EQ(json["resource_usage"]["cpu_task_clock_s"], 2.5);
  EXPECT_EQ(json["resource_usage"]["mismatches"][0]["keys"][0], "cpu_s");
  EXPECT_EQ(json["resource_usage"]["mismatches"][0]["reason"], "too little");
  EXPECT_EQ(json["energy"], nullptr);
}

TEST(UsageJson, MarksUpperBounds) {
  ResourceUsage usage = usage_of_two_processors();
  usage.estimated = {"max_ram.combined.total_rss"};
  const auto json = nlohmann::ordered_json::parse(usage.to_json());
  EXPECT_EQ(json["upper_bounds"], nlohmann::ordered_json{"max_ram.combined.total_rss"});
  EXPECT_EQ(std::prev(json.end()).key(), "upper_bounds") << "behind the five groups";
}

TEST(UsageText, HasThreeDigitsOfASmallNumber) {
  ResourceUsage usage = usage_of_two_processors();
  usage.compute_time = {.unit = "hours", .time = 0.05 / 3600.0};
  usage.max_ram.combined.total_rss = 0.000213;
  usage.max_ram.main.total_rss = 0.0538;
  EXPECT_THAT(usage.to_text(), HasSubstr("   Unit: hours\n   Time: 0.0000139"));
  EXPECT_THAT(usage.to_text(), HasSubstr("   Combined:\n      Total RSS: 0.000213\n"));
  EXPECT_THAT(usage.to_text(), HasSubstr("   Main:\n      Total RSS: 0.054\n"));
}

TEST(UsageText, MarksUpperBounds) {
  ResourceUsage usage = usage_of_two_processors();
  usage.estimated = {"max_ram.combined.total_rss"};
  EXPECT_THAT(usage.to_text(), HasSubstr("   Combined:\n      Total RSS: at most 0.054\n"));
  EXPECT_THAT(usage.to_text(), HasSubstr("   Main:\n      Total RSS: 0.054\n"));
}

}  // namespace
}  // namespace wattle
