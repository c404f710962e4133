#include "stream_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const ConnectionState kLive{.status = ConnectionStatus::live};

StreamedServer node() {
  return {.endpoint = "node1:4938",
          .gpu = kLive,
          .cpu = kLive,
          .devices = {{.domain = "gpu_0",
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

TEST(StreamLines, TellNullForWhatIsNotKnown) {
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

TEST(StreamTotals, SumWhatIsKnownAndCountTheRest) {
  const std::string text = totals_of(two_nodes());
  EXPECT_EQ(text,
            "in 2.500 s, ± of the sampling (k=2):\n"
            "node1:4938               gpu_0                  150.0 J ±1.5 J       75.0 W  "
            "0.500 s unknown  gap\n"
            "                         package_0    not known\n"
            "node2:4938               gpus: connecting: Connection refused\n");
}

TEST(StreamTotals, HaveNoDigitThatTheUncertaintyDoesNotSupport) {
  StreamedServer server = node();
  server.devices[0].energy = {.energy = Joules(123.456), .uncertainty = Joules(54.0)};
  StreamedServer idle = node();
  idle.devices[0].energy = {.energy = Joules(0.0), .uncertainty = Joules(10.0)};
  const std::string text = totals_of({.elapsed = Seconds(2.0), .servers = {server, idle}});
  EXPECT_THAT(text, HasSubstr("123 J ±54 J         60 W"));
  EXPECT_THAT(text, HasSubstr("0 J ±10 J          0 W"));
}

TEST(StreamTotals, AddUpSeveralDevices) {
  StreamedPower total = two_nodes();
  total.servers[1] = node();
  EXPECT_THAT(totals_of(total), HasSubstr("300.0 J ±3.0 J  without 2 not known\n"));
}

TEST(StreamTable, ShowsEachServersDevicesAndTroubles) {
  EXPECT_EQ(table_of(two_nodes(), false, 80, 24),
            "server                   device              power\n"
            "node1:4938               gpu_0             75.00 W\n"
            "                         package_0               -\n"
            "node2:4938               gpus: connecting: Connection refused\n");
}

TEST(StreamTable, ShowsEnergiesBesideThePowers) {
  EXPECT_THAT(table_of({.servers = {node()}}, true, 100, 24),
              HasSubstr("75.00 W           150.0 J ±1.5 J  0.500 s unknown\n"));
}

TEST(StreamTable, ShowsNoPowerOfAServerThatIsNotLive) {
  StreamedServer stale = node();
  stale.gpu = {.status = ConnectionStatus::stale, .reason = "nothing for 3 s"};
  const std::string table = table_of({.servers = {stale}}, false, 80, 24);
  EXPECT_THAT(table, Not(HasSubstr("75.00 W")));
  EXPECT_THAT(table, HasSubstr("gpus: stale: nothing for 3 s\n"));
}

TEST(StreamTable, IsCutToTheTerminal) {
  const std::string table = table_of(two_nodes(), false, 30, 3);
  EXPECT_EQ(table,
            "server                   devic\n"
            "node1:4938               gpu_0\n"
            "... 2 lines more\n");
}

TEST(StreamTable, CountsCharactersAndNotBytes) {
  StreamedServer server = node();
  server.devices[0].energy->energy = Joules(1.0);
  std::istringstream lines(table_of({.servers = {server}}, true, 75, 24));
  std::string header;
  std::string row;
  std::getline(lines, header);
  std::getline(lines, row);
  EXPECT_TRUE(row.ends_with("±1.5 J")) << row;
}

TEST(StreamTable, MakesForeignTextHarmless) {
  StreamedServer server = lost_node();
  server.endpoint = "evil\x1b[2J:1";
  server.gpu.reason = "\x1b]0;title\x07";
  EXPECT_THAT(table_of({.servers = {server}}, false, 200, 24), Not(HasSubstr("\x1b")));
  EXPECT_THAT(totals_of({.servers = {server}}), Not(HasSubstr("\x1b")));
}

TEST(StreamedServers, HaveTheDevicesOfPowersAndOfEnergies) {
  PowerSnapshot snapshot;
  PowerReadings& readings = snapshot["node1:4938"];
  readings.gpu_power_w[1] = 120.0;
  readings.gpu_time_s[1] = 5.0;
  readings.cpu_power_w[0] = {.cpu_w = 85.0, .dram_w = 12.0};
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

TEST(StreamedServers, SayWhyADeviceHasNoPower) {
  PowerSnapshot snapshot;
  PowerReadings& readings = snapshot["node1:4938"];
  readings.cpu = kLive;
  readings.cpu_power_w[0] = {.cpu_w = 85.0};
  readings.dram_reason[0] = "its counter does not move";
  readings.cpu_reason[1] = "its counter does not move";
  const auto servers = servers_of(snapshot, {});
  EXPECT_THAT(table_of({.servers = servers}, false, 80, 24),
              HasSubstr("package_0         85.00 W\n"
                        "                         dram_0                  -  its counter does not "
                        "move\n"
                        "                         package_1               -  its counter does not "
                        "move\n"));
  const Json devices = Json::parse(json_lines_of({.servers = servers}, false))["devices"];
  EXPECT_TRUE(devices[0]["reason"].is_null());
  EXPECT_EQ(devices[1]["reason"], "its counter does not move");
  EXPECT_TRUE(devices[2]["power_w"].is_null());
  EXPECT_THAT(totals_of({.servers = servers}),
              HasSubstr("dram_0       not known: its counter does not move\n"));
}

TEST(StreamedServers, HaveNoTroubleWhereNothingIsWanted) {
  const StreamedServer server{.endpoint = "node1:4938", .gpu = kLive, .cpu = {}};
  EXPECT_THAT(troubles_of(server), IsEmpty());
}

}  // namespace
}  // namespace wattle::app
