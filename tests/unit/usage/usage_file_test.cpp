#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"
#include "usage/files/usage_files.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

ResourceUsage usage_of(double seconds) {
  ResourceUsage usage;
  usage.compute_time = {.unit = "seconds", .time = seconds};
  return usage;
}

TEST(UsageFile, GivesItsLastLine) {
  const std::string lines = usage_line(usage_of(1), 1) + usage_line(usage_of(2), 2);
  const RecoveredUsage found = recovered(lines, "x");
  EXPECT_EQ(found.ticks, 2U);
  EXPECT_EQ(found.usage.to_json(), usage_of(2).to_json());
  EXPECT_EQ(found.usage.to_text(), usage_of(2).to_text());
}

TEST(UsageFile, IsReadableWhereverItEnds) {
  const std::string first = usage_line(usage_of(1), 1);
  const std::string lines = first + usage_line(usage_of(2), 2);
  for (std::size_t length = 0; length < first.size(); length += 7) {
    EXPECT_THROW((void)recovered(lines.substr(0, length), "x"), FormatError) << length;
  }
  for (std::size_t length = first.size(); length < lines.size(); ++length) {
    ASSERT_EQ(recovered(lines.substr(0, length), "x").ticks, 1U) << length;
  }
}

TEST(UsageFile, TakesNothingElseForOne) {
  for (const char* text :
       {"", "\n\n", "{}\n", "[1]\n", "null\n", "{\"schema\":\"wattle.track/2\"}\n",
        "{\"schema\":\"wattle.track/2\",\"tick\":-1,\"resource_usage\":{}}\n"}) {
    EXPECT_THROW((void)recovered(text, "x"), FormatError) << text;
  }
}

TEST(UsageFile, GivesAllThatATrackerReports) {
  ResourceUsage usage = usage_of(1);
  usage.max_ram.main = {.total_rss = 1.5, .private_rss = 0.5, .shared_rss = std::nullopt};
  usage.max_gpu_ram.combined = 0.25;
  usage.cpu_utilization.system_core_count = 8;
  usage.cpu_utilization.main.max_sum_percent = 99.5;
  usage.gpu_utilization.n_expected_gpus = 2;
  usage.gpu_utilization.gpu_percentages.mean_hardware_percent = 12.5;
  usage.cpu_user = Seconds(1.5);
  usage.cpu_system = Seconds(0.25);
  usage.peak_rss_bytes = 4096;
  usage.voluntary_switches = 7;
  usage.still_running = {{.pid = 7, .name = "a", .cpu = Seconds(1.0), .peak_rss_bytes = 5}};
  usage.unknown = {{{"peak_pss_bytes"}, "why"}};
  usage.estimated = {"max_ram.main.total_rss"};
  usage.mechanisms = {{{"processes"}, "how"}};
  usage.energy.emplace();
  usage.energy->domains.push_back({.domain = "core_0",
                                   .energy = {{.energy = Joules(12.5),
                                               .uncertainty = Joules(0.25),
                                               .unknown = Seconds(0.5),
                                               .flags = Flags::of(Flag::reset)}},
                                   .source = "perf",
                                   .contained_in = "package_0"});
  usage.energy->domains.push_back(
      {.domain = "nvidia_gpu_0",
       .energy = {{.energy = Joules(2.5)},
                  Method::integrated,
                  "power_instant",
                  0.25,
                  {{Method::counter, "energy", Joules(2.25), Joules(0.5), {}}}},
       .source = "nvml",
       .contained_in = {}});
  usage.energy->refused.push_back(
      {.subject = "GPUs", .reason = "why", .remedy = "ask", .source = "nvml"});
  usage.tracker_cpu = Seconds(0.25);
  EXPECT_EQ(recovered(usage_line(usage, 1), "x").usage.to_native_json(), usage.to_native_json());
}

TEST(UsageFile, OfTheFirstSchemaIsRead) {
  const RecoveredUsage found = recovered(
      R"({"schema":"wattle.track/1","tick":1,"resource_usage":{"compute_time":{}},"energy":{)"
      R"("domains":[],"refused":[{"source":"nvml","subject":"GPUs","reason":"why","hint":"ask"}]}})"
      "\n",
      "x");
  ASSERT_TRUE(found.usage.energy);
  EXPECT_EQ(found.usage.energy->refused.at(0).remedy, "ask");
}

TEST(UsageFile, TakesValuesOfAnotherKindForUnknown) {
  const RecoveredUsage found = recovered(
      R"({"schema":"wattle.track/2","tick":1,"energy":[],"resource_usage":{"compute_time":7,)"
      R"("max_ram":{"unit":1,"main":{"total_rss":"x"}},"still_running":[1,{"pid":1e300}],)"
      R"("processes":-1,"unknown":{"keys":1},"cpu_utilization":{"system_core_count":99999999999}}})"
      "\n",
      "x");
  EXPECT_FALSE(found.usage.max_ram.main.total_rss);
  EXPECT_FALSE(found.usage.processes);
  EXPECT_FALSE(found.usage.cpu_utilization.system_core_count);
  EXPECT_FALSE(found.usage.energy);
  ASSERT_TRUE(found.usage.still_running);
  EXPECT_EQ(found.usage.still_running->size(), 1U);
}

TEST(UsageFile, MovesNoCursor) {
  ResourceUsage usage = usage_of(1);
  usage.max_ram.unit = "\x1b[2J";
  const RecoveredUsage found = recovered(usage_line(usage, 1), "x");
  for (const std::string& text :
       {found.usage.to_text(), found.usage.to_json(), found.usage.to_native_json()}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  }
}

TEST(UsageFile, IsNotReadHoweverDeepItIs) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string line =
      R"({"schema":"wattle.track/2","tick":1,"resource_usage":{"compute_time":{},"x":)" + deep;
  EXPECT_NO_THROW((void)recovered(line + "}}\n", "x"));
}

TEST(UsageFile, HasToExist) {
  const fakes::TempFolder folder;
  EXPECT_THROW((void)recover_usage(folder.path() / "none"), Error);
}

TEST(UsageFile, IsNoDeviceWhichMayNeverEnd) {
  for (const char* device : {"/dev/zero", "/dev/urandom"}) {
    try {
      (void)recover_usage(device);
      FAIL() << device;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("cannot read the usage file ") + device + ": it is a device");
    }
  }
}

}  // namespace
}  // namespace wattle
