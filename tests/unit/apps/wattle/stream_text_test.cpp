#include "stream_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden.hpp"

namespace wattle::app {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr StreamTable kPowers{};
constexpr StreamTable kEnergies{.shows_energy = true};
constexpr std::size_t kHigh = 40;

StreamedDevice device(const std::string& domain, double power_w, double energy_j) {
  return {.domain = domain,
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
              HasSubstr("all                      780.0 J ±6.0 J       390 W\n"));
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
  EXPECT_THAT(table, HasSubstr("total         120.0 W  without 1 not known\n"));
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

TEST(StreamTotals, HaveNoDigitThatTheUncertaintyDoesNotSupport) {
  StreamedServer server = node_of_two("a");
  server.devices[0].energy = {.energy = Joules(123.456), .uncertainty = Joules(54.0)};
  server.devices[1].energy = {.energy = Joules(0.0), .uncertainty = Joules(10.0)};
  const std::string text = totals_of({.elapsed = Seconds(2.0), .servers = {server}}, kPowers, {});
  EXPECT_THAT(text, HasSubstr("123 J ±54 J        60 W\n"));
  EXPECT_THAT(text, HasSubstr("0 J ±10 J         0 W\n"));
}

TEST(StreamTotals, SayWhichEnergyIsNotKnown) {
  StreamedServer server = node_of_two("a");
  server.devices[0].energy.reset();
  server.devices[1].energy.reset();
  server.devices[1].reason = "its counter does not move";
  const std::string text = totals_of({.elapsed = Seconds(2.0), .servers = {server}}, kPowers, {});
  EXPECT_THAT(text, HasSubstr("gpu_0                         -           -  not known\n"));
  EXPECT_THAT(text, HasSubstr("-  its counter does not move\n"));
}

}  // namespace
}  // namespace wattle::app
