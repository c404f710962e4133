#include "top/sources/streamed_machines.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wattle::app {
namespace {

constexpr const char* kNode1 =
    R"({"schema":"wattle.stream/1","type":"reading","time_unix_s":1760000001.5,"elapsed_s":1.0,)"
    R"("server":"node1:4747","gpus":{"status":"live","reason":null},"cpus":{"status":"live",)"
    R"("reason":null},"devices":[{"domain":"nvidia_gpu_0","power_w":300.0,"reason":null,)"
    R"("energy_j":300.0,"uncertainty_j":1.5,"unknown_s":0.0,"flags":["gap"]},)"
    R"({"domain":"package_0","power_w":50.0,"energy_j":50.0,"uncertainty_j":0.1,"unknown_s":0.0},)"
    R"({"domain":"psys","power_w":400.0,"energy_j":400.0,"uncertainty_j":0.1}]})";
constexpr const char* kNode2 =
    R"({"schema":"wattle.stream/1","type":"reading","time_unix_s":1760000001.5,"elapsed_s":1.0,)"
    R"("server":"node2:4747","gpus":{"status":"connecting","reason":"connection refused"},)"
    R"("cpus":{"status":"connecting","reason":"connection refused"},)"
    R"("devices":[{"domain":"package_0","power_w":70.0,"energy_j":10.0,"uncertainty_j":0.1}]})";

/// Of a machine with a GPU and a package.
std::string line_of(std::string_view server, double elapsed_s, std::string_view gpus,
                    std::string_view cpus) {
  const auto state = [](std::string_view status) {
    return fmt::format(R"({{"status":"{}","reason":{}}})", status,
                       status == "live" ? "null" : "\"no token\"");
  };
  return fmt::format(
      R"({{"schema":"wattle.stream/1","type":"reading","elapsed_s":{},"server":"{}","gpus":{},)"
      R"("cpus":{},"devices":[{{"domain":"nvidia_gpu_0","power_w":300.0,"energy_j":300.0}},)"
      R"({{"domain":"package_0","power_w":50.0,"energy_j":50.0,"unknown_s":0.0}}]}})",
      elapsed_s, server, state(gpus), state(cpus));
}

TEST(StreamedMachines, AreShownTogether) {
  StreamedMachines machines(2);
  EXPECT_FALSE(machines.take(kNode1)) << "one machine has no line of this period yet";
  ASSERT_TRUE(machines.take(kNode2));
  const TopObservation seen = machines.observe();
  ASSERT_EQ(seen.devices.size(), 4U);
  EXPECT_EQ(seen.devices[0].machine, "node1:4747");
  EXPECT_EQ(seen.devices[0].name, "nvidia_gpu_0");
  EXPECT_TRUE(seen.devices[0].is_gpu && seen.devices[0].is_counted);
  EXPECT_TRUE(seen.devices[0].energy.flags.has(Flag::gap));
  EXPECT_FALSE(seen.devices[2].is_counted) << "the platform overlaps all others";
  EXPECT_EQ(seen.length, Seconds(1.0));
}

TEST(StreamedMachines, ThatCannotBeReachedHaveNoPower) {
  StreamedMachines machines(1);
  ASSERT_TRUE(machines.take(kNode2));
  const TopObservation seen = machines.observe();
  ASSERT_EQ(seen.machines.size(), 1U);
  EXPECT_FALSE(seen.machines[0].is_live);
  EXPECT_EQ(seen.machines[0].trouble, "connecting: connection refused");
  EXPECT_FALSE(seen.devices[0].power);
  EXPECT_EQ(seen.devices[0].energy.energy, Joules(10.0)) << "what was known stays";
  EXPECT_TRUE(total_of(seen)->is_lower_bound);
}

TEST(StreamedMachines, ReplaceTheirLastLine) {
  StreamedMachines machines(1);
  ASSERT_TRUE(machines.take(kNode1));
  ASSERT_TRUE(machines.take(line_of("node1:4747", 2.0, "live", "live")));
  EXPECT_EQ(machines.observe().devices.size(), 2U);
}

TEST(StreamedMachines, AreSeenOnceInAPeriod) {
  StreamedMachines machines(3);
  int seen = 0;
  for (const double elapsed_s : {1.0, 2.0, 3.0}) {
    for (const char* server : {"node1", "node2", "node3"}) {
      seen += machines.take(line_of(server, elapsed_s, "live", "live")) ? 1 : 0;
    }
  }
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(machines.observe().length, Seconds(3.0));
}

TEST(StreamedMachines, ThatWereNamedTwiceAreSeenFromTheSecondPeriodOn) {
  StreamedMachines machines(2);
  EXPECT_FALSE(machines.take(line_of("node1", 1.0, "live", "live")));
  EXPECT_TRUE(machines.take(line_of("node1", 2.0, "live", "live")));
  EXPECT_TRUE(machines.take(line_of("node1", 3.0, "live", "live")));
}

TEST(StreamedMachines, ShowOneKindOfDevicesWhereTheOtherIsDenied) {
  StreamedMachines machines(1);
  ASSERT_TRUE(machines.take(line_of("node1", 1.0, "denied", "live")));
  const TopObservation seen = machines.observe();
  EXPECT_TRUE(seen.machines[0].is_live);
  EXPECT_EQ(seen.machines[0].trouble, "gpus: denied: no token");
  EXPECT_FALSE(seen.devices[0].power);
  EXPECT_EQ(seen.devices[0].reason, "denied: no token");
  ASSERT_TRUE(seen.devices[1].power) << "the CPUs are not denied";
  EXPECT_EQ(seen.devices[1].power->value, 50.0);
  EXPECT_TRUE(total_of(seen)->is_lower_bound);
}

TEST(StreamedMachines, ThatWereNeverReachedMakeTheTotalALowerBound) {
  StreamedMachines machines(2);
  EXPECT_FALSE(machines.take(line_of("node1", 1.0, "live", "live")));
  const std::string dead =
      R"({"schema":"wattle.stream/1","type":"reading","elapsed_s":1.0,"server":"node2","gpus":)"
      R"({"status":"connecting","reason":"refused"},"cpus":{"status":"connecting","reason":)"
      R"("refused"},"devices":[]})";
  ASSERT_TRUE(machines.take(dead));
  const auto total = total_of(machines.observe());
  EXPECT_TRUE(total->is_lower_bound);
  EXPECT_EQ(total->power->value, 350.0);
  EXPECT_EQ(total->energy.unknown, Seconds(1.0));
}

TEST(StreamedMachines, TakeNothingElse) {
  StreamedMachines machines(1);
  for (const char* line : {"", "rubbish", "{}", R"({"schema":"wattle.stream/1","type":"total"})",
                           R"({"schema":"wattle.stream/1","type":"reading"})"}) {
    EXPECT_FALSE(machines.take(line)) << line;
  }
  EXPECT_TRUE(machines.observe().devices.empty());
}

}  // namespace
}  // namespace wattle::app
