#include "watch/power_lines.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "golden.hpp"
#include "output/energy_words.hpp"
#include "watch/power_text.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

DeviceEnergy gpu() {
  DeviceEnergy gpu{Domain::nvidia_gpu(0), {}};
  gpu.energy.energy = Joules(100.0);
  gpu.energy.uncertainty = Joules(1.5);
  gpu.energy.unknown = Seconds(0.5);
  gpu.energy.flags = Flags::of(Flag::gap);
  gpu.energy.method = Method::integrated;
  gpu.energy.quantity = "power_instant";
  gpu.energy.alternatives.push_back({.method = Method::counter,
                                     .quantity = "energy",
                                     .energy = Joules(90.0),
                                     .uncertainty = Joules(20.0),
                                     .flags = Flags::of(Flag::gap)});
  return gpu;
}
DeviceEnergy silent_package() {
  DeviceEnergy package{Domain::package(0), {}};
  package.energy.uncertainty = Joules(9.0);
  package.energy.unknown = Seconds(2.5);
  package.energy.flags = Flags::of(Flag::stuck);
  return package;
}

/// Two and a half seconds, of which the GPU is known for two and the package for none.
PowerLine line() {
  return {.time_unix_s = 1.75e9,
          .elapsed = Seconds(10.0),
          .length = Seconds(2.5),
          .devices = {gpu(), silent_package()}};
}

PowerOptions options(PowerShows shows, PowerFormat format) {
  PowerOptions options;
  options.shows = shows;
  options.format = format;
  return options;
}

TEST(PowerLines, HaveTheMeanPowerOfTheTimeThatIsKnown) {
  EXPECT_EQ(mean_power(gpu().energy, Seconds(2.5)), Watts(50.0));
  EXPECT_EQ(mean_power(silent_package().energy, Seconds(2.5)), std::nullopt);
  EXPECT_EQ(mean_power(gpu().energy, Seconds(0.5)), std::nullopt);
}

TEST(PowerLines, AreColumnsOfText) {
  const auto power = options(PowerShows::power, PowerFormat::text);
  EXPECT_EQ(header_of(power, line()),
            "     elapsed           total    nvidia_gpu_0       package_0  ± and flags\n");
  EXPECT_EQ(line_of(power, line()),
            "     10.00 s         ≥50.0 W          50.0 W               -  ±750 mW, gap, stuck\n");
  const auto energy = options(PowerShows::energy, PowerFormat::text);
  EXPECT_EQ(line_of(energy, line()),
            "     10.00 s          ≥100 J          ≥100 J               -  ±1.5 J, gap, stuck\n");
  EXPECT_THAT(line_of(energy, line(), {.unicode = false}), HasSubstr("         >=100 J"));
}

TEST(PowerLines, AreNoLowerBoundsWhereTheyLackLessThanTheirUncertainty) {
  PowerLine complete = line();
  complete.devices = {gpu()};
  complete.devices[0].energy.unknown = Seconds(0.03);  // 1.2 J of ±1.5 J
  EXPECT_THAT(line_of(options(PowerShows::energy, PowerFormat::text), complete),
              HasSubstr("           100 J  ±1.5 J, gap\n"));
}

TEST(PowerLines, EndWithEachDevicesEnergyAndTheOtherWaysToIt) {
  EXPECT_EQ(totals_of(options(PowerShows::power, PowerFormat::text), line()),
            "\nin 10.00 s; ± is the sampling error only (95 %):\n"
            "nvidia_gpu_0  power_instant   100.0 J ±1.5 J  50.0 W  0.500 s unknown, gap\n"
            "  or by       energy              90 J ±20 J          gap\n"
            "package_0     energy                       -          stuck\n"
            "total                        ≥100.0 J ±1.5 J  50.0 W  0.500 s unknown\n"
            "not in the total: package_0: its counter does not move\n");
}

/// Two sockets and eight GPUs.
PowerLine large_line() {
  PowerLine large = line();
  large.devices.clear();
  for (std::uint32_t index = 0; index < 8; ++index) {
    large.devices.push_back(gpu());
    large.devices.back().domain = Domain::nvidia_gpu(index);
    large.devices.back().energy.alternatives.clear();
  }
  for (const Domain& domain :
       {Domain::package(0), Domain::package(1), Domain::dram(0), Domain::dram(1)}) {
    DeviceEnergy device{domain, {}};
    device.energy.energy = Joules(250.0);
    device.energy.uncertainty = Joules(0.05);
    large.devices.push_back(device);
  }
  return large;
}

TEST(PowerLines, FitTheTerminal) {
  testing_support::expect_looks("look_power.txt", [](const TextStyle& style) {
    const auto power = options(PowerShows::power, PowerFormat::text);
    return header_of(power, large_line(), style) + line_of(power, large_line(), style) +
           totals_of(power, large_line(), style);
  });
}

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// A terminal of 24 lines, less the one of the cursor.
constexpr std::size_t kHeight = 23;

TEST(PowerTable, FitsATerminal) {
  const TextStyle style{.width = 80};
  std::string screens;
  for (const PowerShows shows : {PowerShows::power, PowerShows::energy}) {
    const auto shown = options(shows, PowerFormat::text);
    screens += power_table(shown, large_line(), style, kHeight) + "\n";
  }
  testing_support::expect_golden("screen_power.txt", screens);
}

TEST(PowerTable, KeepsTheTotalWhereThereIsNoRoomForAllDevices) {
  const std::string text =
      power_table(options(PowerShows::power, PowerFormat::text), large_line(), {.width = 80}, 6);
  EXPECT_EQ(lines_in(text), 6U) << text;
  EXPECT_THAT(text, HasSubstr("... 10 lines more\ntotal"));
}

TEST(PowerTable, HasUnknownCellsBeforeAnythingWasMeasured) {
  PowerLine first = large_line();
  first.elapsed = first.length = Seconds(0);
  for (DeviceEnergy& device : first.devices) device.energy = BestEnergy();
  EXPECT_THAT(
      power_table(options(PowerShows::power, PowerFormat::text), first, {.width = 80}, kHeight),
      HasSubstr("\nnvidia_gpu_0      -\n"));
}

TEST(PowerTable, ShowsAnEstimateBelowTheDevices) {
  PowerLine estimated = large_line();
  estimated.estimate = EnergyEstimate();
  EXPECT_THAT(
      power_table(options(PowerShows::power, PowerFormat::text), estimated, {.width = 80}, 4),
      HasSubstr("\nestimate, not measured: -\n"));
}

TEST(PowerTotals, FitATerminalWhereEachGpuHasSeveralSensors) {
  PowerLine large = large_line();
  for (DeviceEnergy& device : large.devices) {
    if (device.domain.category() == DomainCategory::gpu) {
      device.energy.alternatives = gpu().energy.alternatives;
      device.energy.alternatives.push_back(device.energy.alternatives.front());
    }
  }
  EXPECT_LE(
      lines_in(power_totals(options(PowerShows::power, PowerFormat::text), large, {.width = 80})),
      kHeight);
}

TEST(PowerLines, AddUpTheDevices) {
  const auto power = options(PowerShows::power, PowerFormat::text);
  EXPECT_THAT(line_of(power, large_line()), HasSubstr("     10.00 s         800.0 W"));
  // The squares of the uncertainties add up: 8 of 1.5 J, 4 of 0.05 J.
  EXPECT_THAT(totals_of(power, large_line()),
              HasSubstr("total                          ≥1800.0 J ±4.2 J  800.0 W"));
}

/// Two packages of this energy and its uncertainty, in a second.
PowerLine two_packages(Joules first, Joules second, Joules uncertainty) {
  PowerLine line{.elapsed = Seconds(1.0), .length = Seconds(1.0), .devices = {}};
  for (const auto& [domain, energy] :
       {std::pair(Domain::package(0), first), std::pair(Domain::package(1), second)}) {
    DeviceEnergy device{domain, {}};
    device.energy.energy = energy;
    device.energy.uncertainty = uncertainty;
    line.devices.push_back(device);
  }
  return line;
}

TEST(PowerLines, HaveColumnsThatAddUp) {
  // Rounded one by one: 100 and 50 would make 140.
  const PowerLine coarse = two_packages(Joules(96.0), Joules(47.0), Joules(10.0));
  for (const auto shows : {PowerShows::power, PowerShows::energy}) {
    const char unit = shows == PowerShows::power ? 'W' : 'J';
    EXPECT_EQ(
        line_of(options(shows, PowerFormat::text), coarse),
        fmt::format("     1.000 s           143 {0}            96 {0}            47 {0}  ±14 {0}\n",
                    unit));
  }
  EXPECT_THAT(totals_of(options(PowerShows::energy, PowerFormat::text), coarse),
              HasSubstr("143 J ±14 J  143 W\n"));
  // These add up as they are.
  EXPECT_EQ(line_of(options(PowerShows::energy, PowerFormat::text),
                    two_packages(Joules(102.0), Joules(51.0), Joules(10.0))),
            "     1.000 s           150 J           100 J            50 J  ±14 J\n");
}

TEST(PowerLines, AddUpWhatSensorsAreLateByWithItsSign) {
  PowerLine alike = two_packages(Joules(96.0), Joules(47.0), Joules(10.0));
  for (DeviceEnergy& device : alike.devices) device.energy.common = Joules(-10.0);
  for (const auto shows : {PowerShows::power, PowerShows::energy}) {
    const char unit = shows == PowerShows::power ? 'W' : 'J';
    EXPECT_THAT(line_of(options(shows, PowerFormat::text), alike),
                HasSubstr(fmt::format("  ±20 {}\n", unit)));
  }
}

TEST(PowerLines, AddUpNoPartsOfDevices) {
  PowerOptions asked = options(PowerShows::power, PowerFormat::text);
  asked.gpu_domain = PowerDomain::memory_average;
  EXPECT_THAT(header_of(asked, large_line()), Not(HasSubstr("total")));
  PowerLine modules = large_line();
  modules.devices.front().energy.quantity = "module_power_instant";
  EXPECT_THAT(totals_of(options(PowerShows::power, PowerFormat::text), modules),
              Not(HasSubstr("total")));
}

TEST(PowerLines, HaveTheOtherWaysInJson) {
  const Json json = Json::parse(totals_of(options(PowerShows::power, PowerFormat::json), line()));
  EXPECT_EQ(json["devices"][0]["alternatives"][0], (Json{{"method", "counter"},
                                                         {"quantity", "energy"},
                                                         {"energy_j", 90.0},
                                                         {"uncertainty_j", 20.0},
                                                         {"flags", {"gap"}}}));
}

TEST(PowerLines, NameThePowerDomainThatWasAskedFor) {
  PowerOptions asked = options(PowerShows::energy, PowerFormat::text);
  asked.gpu_domain = PowerDomain::memory_average;
  EXPECT_THAT(header_of(asked, line()), HasSubstr("  memory_average"));
}

TEST(PowerLines, AreRowsOfATable) {
  const auto power = options(PowerShows::power, PowerFormat::csv);
  EXPECT_EQ(header_of(power, line()),
            "time_unix_s,elapsed_s,domain,quantity,power_w,uncertainty_w,unknown_s,flags\n");
  EXPECT_EQ(
      line_of(power, line()),
      "1750000000.000000,10.000000,nvidia_gpu_0,power_instant,50.000000,0.750000,0.500000,gap\n"
      "1750000000.000000,10.000000,package_0,energy,,,2.500000,stuck\n");
  const auto energy = options(PowerShows::energy, PowerFormat::csv);
  EXPECT_EQ(header_of(energy, line()),
            "time_unix_s,elapsed_s,domain,quantity,energy_j,uncertainty_j,unknown_s,flags\n");
  EXPECT_THAT(line_of(energy, line()), HasSubstr("package_0,energy,,,2.500000,stuck\n"));
}

TEST(PowerLines, AreJsonThatNamesItsSchema) {
  const auto power = options(PowerShows::power, PowerFormat::json);
  EXPECT_EQ(header_of(power, line()), "");
  const std::string text = line_of(power, line());
  EXPECT_TRUE(text.ends_with("}\n"));
  const Json json = Json::parse(text);
  EXPECT_EQ(json["schema"], "wattle.power/1");
  EXPECT_EQ(json["type"], "reading");
  EXPECT_EQ(json["elapsed_s"], 10.0);
  EXPECT_EQ(json["devices"][0], (Json{{"domain", "nvidia_gpu_0"},
                                      {"method", "integrated"},
                                      {"quantity", "power_instant"},
                                      {"power_w", 50.0},
                                      {"uncertainty_w", 0.75},
                                      {"unknown_s", 0.5},
                                      {"coverage", nullptr},
                                      {"flags", {"gap"}}}));
  EXPECT_EQ(json["devices"][1]["power_w"], nullptr);
}

TEST(PowerLines, AreJsonOfEnergies) {
  const Json json = Json::parse(line_of(options(PowerShows::energy, PowerFormat::json), line()));
  EXPECT_EQ(json["schema"], "wattle.energy/1");
  EXPECT_EQ(json["devices"][0]["energy_j"], 100.0);
  EXPECT_EQ(json["devices"][0]["uncertainty_j"], 1.5);
  EXPECT_EQ(json["devices"][1]["energy_j"], nullptr);
  EXPECT_EQ(json["devices"][1]["uncertainty_j"], nullptr);
}

TEST(PowerLines, HaveATotalInJsonToo) {
  const Json power =
      Json::parse(line_of(options(PowerShows::power, PowerFormat::json), line()))["total"];
  EXPECT_EQ(power, (Json{{"power_w", 50.0},
                         {"uncertainty_w", 0.75},
                         {"unknown_s", 0.5},
                         {"is_lower_bound", true},
                         {"flags", {"gap"}}}));
  const Json energy =
      Json::parse(line_of(options(PowerShows::energy, PowerFormat::json), line()))["total"];
  EXPECT_EQ(energy["energy_j"], 100.0);
  EXPECT_EQ(energy["uncertainty_j"], 1.5);
  PowerLine alone = line();
  alone.devices.pop_back();
  EXPECT_EQ(Json::parse(line_of(options(PowerShows::energy, PowerFormat::json), alone))["total"],
            nullptr);
  alone.devices = {silent_package(), silent_package()};
  const Json unknown =
      Json::parse(totals_of(options(PowerShows::energy, PowerFormat::json), alone))["total"];
  EXPECT_EQ(unknown["energy_j"], nullptr);
  EXPECT_EQ(unknown["unknown_s"], 2.5);
}

TEST(PowerLines, EndWithJsonOfTheTotals) {
  const Json json = Json::parse(totals_of(options(PowerShows::power, PowerFormat::json), line()));
  EXPECT_EQ(json["schema"], "wattle.power/1");
  EXPECT_EQ(json["type"], "total");
  EXPECT_EQ(json["devices"][0]["energy_j"], 100.0);
  EXPECT_EQ(json["devices"][0]["mean_w"], 50.0);
}

/// A machine with a GPU alone, and a range for its server: 4 W to 40 W.
PowerLine estimated_line() {
  PowerLine estimated = line();
  estimated.devices = {gpu()};
  EnergyEstimate server;
  server.machine = {.low = Joules(10.0), .typical = Joules(25.0), .high = Joules(100.0)};
  server.method = "server_power_model";
  server.covers = "whole server at the wall: 8 hardware threads";
  estimated.estimate = server;
  return estimated;
}

TEST(PowerLines, HaveAnEstimateInAColumnOfItsOwn) {
  const auto power = options(PowerShows::power, PowerFormat::text);
  EXPECT_EQ(header_of(power, estimated_line()),
            "     elapsed    nvidia_gpu_0  ± and flags  estimate, not measured\n");
  EXPECT_EQ(line_of(power, estimated_line()),
            "     10.00 s          50.0 W  ±750 mW, gap  ~10 W (4.0 W to 40 W)\n");
  EXPECT_EQ(line_of(power, estimated_line(), {.width = 30}),
            "     10.00 s          50.0 W\n"
            "              ±750 mW, gap\n"
            "              ~10 W (4.0 W to 40 W)\n");
  EXPECT_THAT(totals_of(power, estimated_line()),
              HasSubstr("\nestimate, not measured: ~25 J (10 J to 100 J) of whole server"));
  const auto csv = options(PowerShows::energy, PowerFormat::csv);
  EXPECT_THAT(header_of(csv, estimated_line()),
              HasSubstr("flags,estimate_low_j,estimate_typical_j,estimate_high_j\n"));
  EXPECT_EQ(line_of(csv, estimated_line()),
            "1750000000.000000,10.000000,nvidia_gpu_0,power_instant,100.000000,1.500000,0.500000,"
            "gap,,,\n"
            "1750000000.000000,10.000000,estimate,server_power_model,,,2.500000,,10.000000,"
            "25.000000,100.000000\n");
}

TEST(PowerLines, HaveAnEstimateInAnObjectOfItsOwn) {
  const auto power = options(PowerShows::power, PowerFormat::json);
  const Json json = Json::parse(line_of(power, estimated_line()));
  EXPECT_EQ(json["devices"].size(), 1U);
  EXPECT_EQ(json["estimate"]["typical_w"], 10.0);
  EXPECT_EQ(json["estimate"]["high_j"], 100.0);
  EXPECT_TRUE(Json::parse(line_of(power, line()))["estimate"].is_null());
}

}  // namespace
}  // namespace wattle::app
