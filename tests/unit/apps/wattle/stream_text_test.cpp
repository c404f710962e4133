#include "stream/stream_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden.hpp"

namespace wattle::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr StreamTable kPowers{};
constexpr StreamTable kEnergies{.shows_energy = true};
constexpr std::size_t kHigh = 40;

StreamedDevice device(const std::string& domain, double power_w, double energy_j) {
  return {.domain = domain,
          .is_gpu = domain.starts_with("gpu"),
          .power_w = power_w,
          .energy = MeasuredEnergy{.energy = Joules(energy_j), .uncertainty = Joules(1.5)}};
}

StreamedServer node_of_two(const std::string& endpoint) {
  return {.endpoint = endpoint,
          .gpu = {.status = ConnectionStatus::live},
          .cpu = {.status = ConnectionStatus::live},
          .devices = {device("gpu_0", 75.0, 150.0), device("package_0", 120.0, 240.0)}};
}

StreamedServer silent_node() {
  return {.endpoint = "node2:4938",
          .gpu = {.status = ConnectionStatus::connecting, .reason = "Connection refused"},
          .cpu = {.status = ConnectionStatus::off}};
}

StreamedPower troubled_nodes() {
  StreamedServer first = node_of_two("node1:4938");
  first.devices[0].energy->unknown = Seconds(0.5);
  first.devices[0].energy->flags = Flags::of(Flag::gap);
  first.devices[1] = {.domain = "package_0",
                      .energy = MeasuredEnergy{.unknown = Seconds(2.0)},
                      .reason = "its counter does not move"};
  return {.time_unix_s = 1.75e9, .elapsed = Seconds(2.0), .servers = {first, silent_node()}};
}

TEST(StreamTable, FitsTheTerminal) {
  testing_support::expect_looks("look_stream.txt", [](const TextStyle& style) {
    return table_of(troubled_nodes(), kPowers, style, kHigh) + "\n" +
           table_of(troubled_nodes(), kEnergies, style, kHigh) + "\n" +
           totals_of(troubled_nodes(), kPowers, style);
  });
}

TEST(StreamTable, HasColumnsWhateverANameIs) {
  const std::string name(40, 'a');
  StreamedServer server = node_of_two("a");
  server.devices[0].domain = name;
  const StreamedPower power{.elapsed = Seconds(2.0), .servers = {server}};
  EXPECT_EQ(table_of(power, kPowers, {}, kHigh),
            "server  device" + std::string(34, ' ') + "       power\n" +  //
                "a       " + name + "     75.00 W\n" +                    //
                "        package_0" + std::string(31, ' ') + "     120.0 W\n" + "        total" +
                std::string(35, ' ') + "     195.0 W\n");
  EXPECT_THAT(totals_of(power, kPowers, {}), HasSubstr(name + "  "));
}

TEST(StreamTable, AddsUpEachServerAndAll) {
  const StreamedPower power{.elapsed = Seconds(2.0),
                            .servers = {node_of_two("a"), node_of_two("b")}};
  EXPECT_EQ(table_of(power, kPowers, {}, kHigh),
            "server  device          power\n"
            "a       gpu_0         75.00 W\n"
            "        package_0     120.0 W\n"
            "        total         195.0 W\n"
            "b       gpu_0         75.00 W\n"
            "        package_0     120.0 W\n"
            "        total         195.0 W\n"
            "all                   390.0 W\n");
  EXPECT_THAT(totals_of(power, kPowers, {}),
              HasSubstr("all                      780.0 J ±3.0 J     390.0 W\n"));
}

TEST(StreamTable, HasARowOfEachServerWhereAskedFor) {
  const StreamedPower power{.servers = {node_of_two("a"), node_of_two("b")}};
  EXPECT_EQ(table_of(power, {.by_node = true}, {}, kHigh),
            "server  device          power\n"
            "a       total         195.0 W\n"
            "b       total         195.0 W\n"
            "all                   390.0 W\n");
}

TEST(StreamTable, HasTheHighestPowerFirstWhereAskedFor) {
  StreamedPower power{.servers = {node_of_two("a"), node_of_two("b")}};
  power.servers[1].devices[0].power_w = 500.0;
  const std::string table = table_of(power, {.order = StreamOrder::power}, {}, kHigh);
  EXPECT_LT(table.find("\nb "), table.find("\na "));
  const std::string a = table.substr(table.find("\na "));
  EXPECT_LT(a.find("package_0"), a.find("gpu_0"));
}

TEST(StreamTable, ShowsNoPowerOfAServerThatIsNotLive) {
  StreamedServer stale = node_of_two("a");
  stale.gpu = {.status = ConnectionStatus::stale, .reason = "nothing for 3 s"};
  const std::string table = table_of({.servers = {stale}}, kPowers, {}, kHigh);
  EXPECT_THAT(table, Not(HasSubstr("75.00 W")));
  EXPECT_THAT(table, HasSubstr("gpus: stale: nothing for 3 s\n"));
  EXPECT_THAT(table, HasSubstr("total        ≥120.0 W  excludes 1 device\n"));
}

TEST(StreamTable, ShowsThatASumLacksAServerThatCannotBeReached) {
  const StreamedPower power{.servers = {node_of_two("a"), silent_node()}};
  EXPECT_THAT(table_of(power, kPowers, {}, kHigh),
              HasSubstr("all                      ≥195.0 W  excludes 1 server\n"));
}

TEST(StreamTable, HasTheFlagsOfEnergiesAsTheTotals) {
  const StreamedPower power{.elapsed = Seconds(2.0), .servers = {troubled_nodes().servers[0]}};
  EXPECT_THAT(table_of(power, kEnergies, {}, kHigh), HasSubstr("  0.500 s unknown, gap\n"));
  EXPECT_THAT(table_of(power, kPowers, {}, kHigh), Not(HasSubstr("gap")));
}

TEST(StreamTable, HasNoEnergyOfWhichABoundAloneIsKnown) {
  StreamedServer server = node_of_two("a");
  server.devices[0].energy = {
      .energy = Joules(0.0), .uncertainty = Joules(31.0), .flags = Flags::of(Flag::short_window)};
  EXPECT_THAT(table_of({.servers = {server}}, kEnergies, {}, kHigh),
              HasSubstr("gpu_0         75.00 W                     -\n"));
}

TEST(StreamTotals, SayWhatTheUncertaintyIsOf) {
  EXPECT_THAT(totals_of({.elapsed = Seconds(2.0), .servers = {node_of_two("a")}}, kPowers, {}),
              testing::StartsWith("in 2.000 s; ± is the sampling error only (95 %):\n"));
}

StreamedPower of_long_names() {
  return {.servers = {node_of_two("gpu-node-0001.cluster.example.org:4938"),
                      node_of_two("gpu-node-0002.cluster.example.org:4938")}};
}

TEST(StreamTable, HasWholeNamesOfServersWhereTheTerminalIsWide) {
  const std::string table = table_of(of_long_names(), kPowers, {.width = 100}, kHigh);
  EXPECT_THAT(table, HasSubstr("gpu-node-0001.cluster.example.org:4938  gpu_0 "));
}

TEST(StreamTable, HasNamesOfServersThatDifferWhereTheTerminalIsNarrow) {
  const std::string table = table_of(of_long_names(), kPowers, {.width = 50}, kHigh);
  EXPECT_THAT(table, AllOf(HasSubstr("gpu-node-0001…mple.org:4938  "),
                           HasSubstr("gpu-node-0002…mple.org:4938  ")));
}

TEST(StreamTable, IsAsHighAsTheTerminalAtMost) {
  const std::string table = table_of(troubled_nodes(), kPowers, {.width = 30}, 3);
  EXPECT_EQ(std::ranges::count(table, '\n'), 3);
  EXPECT_THAT(table, HasSubstr(" lines more\n"));
}

TEST(StreamTable, CutsAWordThatIsWiderThanTheTerminal) {
  StreamedServer server = silent_node();
  server.gpu.reason = std::string(200, 'x');
  const std::string table = table_of({.servers = {server}}, kPowers, {.width = 60}, kHigh);
  EXPECT_THAT(table, HasSubstr("xxx\n"));
  EXPECT_THAT(table, Not(HasSubstr(std::string(61, 'x'))));
}

TEST(StreamTable, MakesForeignTextHarmless) {
  StreamedServer server = silent_node();
  server.endpoint = "evil\x1b[2J:1";
  server.gpu.reason = "\x1b]0;title\x07";
  EXPECT_THAT(table_of({.servers = {server}}, kPowers, {}, kHigh), Not(HasSubstr("\x1b")));
  EXPECT_THAT(totals_of({.servers = {server}}, kPowers, {}), Not(HasSubstr("\x1b")));
}

StreamedPower of_one(StreamedDevice device, Seconds elapsed) {
  StreamedServer server = node_of_two("a");
  server.devices = {std::move(device)};
  return {.elapsed = elapsed, .servers = {server}};
}

std::string totals_of_energy(double energy_j, double uncertainty_j, Seconds elapsed) {
  StreamedDevice gpu{
      .domain = "gpu_0",
      .is_gpu = true,
      .energy = MeasuredEnergy{.energy = Joules(energy_j), .uncertainty = Joules(uncertainty_j)}};
  return totals_of(of_one(std::move(gpu), elapsed), kPowers, {});
}

TEST(StreamTotals, HaveNoDigitThatTheUncertaintyDoesNotSupport) {
  EXPECT_THAT(totals_of_energy(123.456, 1.5, Seconds(2.0)), HasSubstr("J ±1.5 J      61.7 W\n"));
  EXPECT_THAT(totals_of_energy(0.0, 10.0, Seconds(2.0)), HasSubstr("0 J ±10 J         0 W\n"));
}

TEST(StreamTotals, ShowAConstantPowerAsItIsThoughTheUncertaintyIsLarge) {
  EXPECT_THAT(totals_of_energy(75.0 * 5.7, 83.0, Seconds(5.7)), HasSubstr(" 75 W\n"));
}

TEST(StreamTotals, HaveMeanPowersThatAddUp) {
  StreamedServer server = node_of_two("a");
  server.devices[0].energy = {.energy = Joules(970.0), .uncertainty = Joules(100.0)};
  server.devices[1].energy = {.energy = Joules(480.0), .uncertainty = Joules(60.0)};
  const std::string text = totals_of({.elapsed = Seconds(10.0), .servers = {server}}, kPowers, {});
  EXPECT_THAT(text, AllOf(HasSubstr(" 97 W\n"), HasSubstr(" 48 W\n"), HasSubstr(" 145 W\n")));
}

TEST(StreamTotals, AreLowerBoundsWhereAPartOfTheTimeIsUnknown) {
  StreamedServer server = node_of_two("a");
  server.devices[0].energy->unknown = Seconds(0.5);
  server.devices[1].energy->unknown = Seconds(0.0001);
  const std::string text = totals_of({.elapsed = Seconds(2.0), .servers = {server}}, kPowers, {});
  EXPECT_THAT(text, HasSubstr(" ≥390.0 J ±2.1 J "));
  EXPECT_THAT(text, HasSubstr("  0.500 s unknown\n"));
  EXPECT_THAT(text, Not(HasSubstr("0.000 s unknown")));
}

TEST(StreamTotals, AreLowerBoundsWhereADeviceOrAServerIsMissing) {
  const std::string text = totals_of(troubled_nodes(), kPowers, {});
  EXPECT_THAT(text, HasSubstr("  0.500 s unknown, gap, excludes 1 device, 1 server\n"));
  EXPECT_THAT(text, HasSubstr("\nall                         ≥150.0 J ±1.5 J"));
}

TEST(StreamTotals, ShowWhichEnergyIsUnknown) {
  StreamedServer server = node_of_two("a");
  server.devices[0].energy.reset();
  server.devices[1].energy.reset();
  server.devices[1].reason = "its counter does not move";
  const std::string text = totals_of({.elapsed = Seconds(2.0), .servers = {server}}, kPowers, {});
  EXPECT_THAT(text, HasSubstr("gpu_0                         -           -\n"));
  EXPECT_THAT(text, HasSubstr("-  its counter does not move\n"));
}

}  // namespace
}  // namespace wattle::app
