#include "stream/stream_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;

const ConnectionState kLive{.status = ConnectionStatus::live};

StreamedServer node() {
  return {.endpoint = "node1:4938",
          .gpu = kLive,
          .cpu = kLive,
          .devices = {{.domain = "gpu_0",
                       .is_gpu = true,
                       .power_w = 75.0,
                       .read_unix_s = 1.75e9,
                       .energy = MeasuredEnergy{.energy = Joules(150.0),
                                                .uncertainty = Joules(1.5),
                                                .unknown = Seconds(0.5),
                                                .flags = Flags::of(Flag::gap)}},
                      {.domain = "package_0", .energy = MeasuredEnergy{.unknown = Seconds(2.5)}}}};
}
StreamedServer lost_node() {
  return {.endpoint = "node2:4938",
          .gpu = {.status = ConnectionStatus::connecting, .reason = "Connection refused"},
          .cpu = {.status = ConnectionStatus::off}};
}

StreamedPower two_nodes() {
  return {.time_unix_s = 1.75e9, .elapsed = Seconds(2.5), .servers = {node(), lost_node()}};
}

TEST(StreamLines, AreALineAServerOfJson) {
  std::istringstream lines(json_lines_of(two_nodes(), false));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const Json first = Json::parse(line);
  EXPECT_EQ(first["schema"], "wattle.stream/1");
  EXPECT_EQ(first["type"], "reading");
  EXPECT_EQ(first["server"], "node1:4938");
  EXPECT_EQ(first["gpus"], Json({{"status", "live"}, {"reason", nullptr}}));
  EXPECT_EQ(
      first["devices"][0],
      Json({{"domain", "gpu_0"}, {"power_w", 75.0}, {"reason", nullptr}, {"read_unix_s", 1.75e9}}));
  ASSERT_TRUE(std::getline(lines, line));
  const Json second = Json::parse(line);
  EXPECT_EQ(second["gpus"], Json({{"status", "connecting"}, {"reason", "Connection refused"}}));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(StreamLines, ReportNullForWhatIsNotKnown) {
  const Json line = Json::parse(json_lines_of({.servers = {node()}}, true));
  const Json& package = line["devices"][1];
  EXPECT_TRUE(package["power_w"].is_null());
  EXPECT_TRUE(package["energy_j"].is_null());
  EXPECT_TRUE(package["uncertainty_j"].is_null());
  EXPECT_EQ(package["unknown_s"], 2.5);
}

TEST(StreamLines, HaveEnergiesWhereAskedFor) {
  const Json gpu = Json::parse(json_lines_of({.servers = {node()}}, true))["devices"][0];
  EXPECT_EQ(gpu["energy_j"], 150.0);
  EXPECT_EQ(gpu["uncertainty_j"], 1.5);
  EXPECT_EQ(gpu["flags"], Json({"gap"}));
}

TEST(StreamLines, EndWithTheEnergiesAndMeanPowersOfAllTime) {
  std::istringstream lines(json_totals_of(two_nodes()));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const Json total = Json::parse(line);
  EXPECT_EQ(total["type"], "total");
  EXPECT_EQ(total["devices"][0]["energy_j"], 150.0);
  EXPECT_EQ(total["devices"][0]["mean_w"], 75.0);  // of the two seconds that are known
  EXPECT_TRUE(total["devices"][1]["mean_w"].is_null());
}

TEST(StreamedServers, HaveTheDevicesOfPowersAndOfEnergies) {
  PowerSnapshot snapshot;
  PowerReadings& readings = snapshot["node1:4938"];
  readings.gpu_power[1] = Watts(120.0);
  readings.gpu_time_s[1] = 5.0;
  readings.cpu_power[0] = {.cpu = Watts(85.0), .dram = Watts(12.0)};
  std::map<std::string, ServerEnergy> energies;
  energies["node1:4938"].gpus[0] = {.energy = Joules(3.0)};
  const auto servers = servers_of(snapshot, energies);
  ASSERT_EQ(servers.size(), 1U);
  std::vector<std::string> domains;
  for (const StreamedDevice& device : servers[0].devices) domains.push_back(device.domain);
  EXPECT_THAT(domains, ElementsAre("gpu_0", "gpu_1", "package_0", "dram_0"));
  EXPECT_EQ(servers[0].devices[0].power_w, std::nullopt);
  EXPECT_EQ(servers[0].devices[1].read_unix_s, 5.0);
  EXPECT_EQ(servers[0].devices[3].power_w, 12.0);
}

TEST(StreamedServers, NameGpusAsTheirDaemonDoes) {
  PowerSnapshot snapshot;
  PowerReadings& readings = snapshot["node1:4938"];
  readings.gpu = kLive;
  readings.gpu_power = {{0, Watts(75.0)}, {1, Watts(80.0)}};
  readings.gpu_domain = {{0, "amd_gpu_0"}};
  const auto servers = servers_of(snapshot, {});
  ASSERT_EQ(servers[0].devices.size(), 2U);
  EXPECT_EQ(servers[0].devices[0].domain, "amd_gpu_0");
  EXPECT_EQ(servers[0].devices[1].domain, "gpu_1");
  EXPECT_TRUE(servers[0].devices[1].is_gpu);
}

TEST(StreamedServers, NameCpusAsTheirDaemonDoes) {
  PowerSnapshot snapshot;
  PowerReadings& readings = snapshot["node1:4938"];
  readings.cpu = kLive;
  readings.cpu_power[0] = {.cpu = Watts(85.0), .dram = Watts(5.0)};
  readings.cpu_power[1] = {.cpu = Watts(200.0)};
  readings.cpu_power[2] = {.cpu = Watts(40.0)};
  readings.cpu_power[3] = {.cpu = Watts(40.0)};
  readings.cpu_domain = {{0, "package_1"}, {1, "psys"}, {2, "package_0"}, {3, "package_0"}};
  std::vector<std::string> shown;
  const auto servers = servers_of(snapshot, {});
  for (const StreamedDevice& device : servers[0].devices) {
    shown.push_back(device.domain + (device.counts ? "" : " (not added)"));
  }
  EXPECT_THAT(shown, ElementsAre("package_1", "dram_1", "psys (not added)", "package_0",
                                 "package_0 (not added)"));
}

TEST(StreamedServers, SayWhyADeviceHasNoPower) {
  PowerSnapshot snapshot;
  PowerReadings& readings = snapshot["node1:4938"];
  readings.cpu = kLive;
  readings.cpu_power[0] = {.cpu = Watts(85.0)};
  readings.dram_reason[0] = "its counter does not move";
  readings.cpu_reason[1] = "its counter does not move";
  const auto servers = servers_of(snapshot, {});
  EXPECT_EQ(servers[0].devices[1].reason, "its counter does not move");
  const Json devices = Json::parse(json_lines_of({.servers = servers}, false))["devices"];
  EXPECT_TRUE(devices[0]["reason"].is_null());
  EXPECT_EQ(devices[1]["reason"], "its counter does not move");
  EXPECT_TRUE(devices[2]["power_w"].is_null());
}

TEST(StreamedServers, ThatCannotBeReachedAreReportedInOneLine) {
  const ConnectionState refused{.status = ConnectionStatus::connecting,
                                .reason = "Connection refused"};
  const StreamedServer server{.endpoint = "node1:4938", .gpu = refused, .cpu = refused};
  EXPECT_THAT(trouble_lines_of(server, true),
              ElementsAre("cannot reach node1:4938: Connection refused"));
  EXPECT_THAT(trouble_lines_of(server, false),
              ElementsAre("node1:4938: connecting: Connection refused"));
  EXPECT_THAT(trouble_lines_of(lost_node(), true),
              ElementsAre("cannot reach node2:4938: Connection refused"));
}

TEST(StreamedServers, WithTwoTroublesAreReportedInTwoLines) {
  const StreamedServer server{
      .endpoint = "node1:4938",
      .gpu = {.status = ConnectionStatus::denied, .reason = "answers 403"},
      .cpu = {.status = ConnectionStatus::connecting, .reason = "the daemon ended the stream"}};
  EXPECT_THAT(trouble_lines_of(server, true),
              ElementsAre("node1:4938: gpus: denied: answers 403",
                          "node1:4938: cpus: connecting: the daemon ended the stream"));
}

TEST(StreamedServers, HaveNoTroubleWhereNothingIsWanted) {
  const StreamedServer server{.endpoint = "node1:4938", .gpu = kLive, .cpu = {}};
  EXPECT_THAT(troubles_of(server), IsEmpty());
}

}  // namespace
}  // namespace wattle::app
