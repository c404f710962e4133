#include "top/sources/streamed_machines.hpp"

#include <gtest/gtest.h>

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

TEST(StreamedMachines, AreShownTogether) {
  StreamedMachines machines;
  ASSERT_TRUE(machines.take(kNode1));
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
  StreamedMachines machines;
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
  StreamedMachines machines;
  ASSERT_TRUE(machines.take(kNode1));
  ASSERT_TRUE(machines.take(kNode1));
  EXPECT_EQ(machines.observe().devices.size(), 3U);
}

TEST(StreamedMachines, TakeNothingElse) {
  StreamedMachines machines;
  for (const char* line : {"", "rubbish", "{}", R"({"schema":"wattle.stream/1","type":"total"})",
                           R"({"schema":"wattle.stream/1","type":"reading"})"}) {
    EXPECT_FALSE(machines.take(line)) << line;
  }
  EXPECT_TRUE(machines.observe().devices.empty());
}

}  // namespace
}  // namespace wattle::app
