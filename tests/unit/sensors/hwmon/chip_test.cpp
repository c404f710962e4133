// What chips and batteries are called, and what is offered of them.
#include "sensors/hwmon/chip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "fakes/hwmon_tree.hpp"
#include "sensors/hwmon/device.hpp"

namespace wattle::hwmon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

/// "hwmon_ina226 power_instant", a line for each channel.
std::vector<std::string> found(const fakes::HwmonTree& tree) {
  std::vector<std::string> lines;
  for (const HwmonDevice& device : find_devices(tree.system()).devices) {
    for (const PlannedChannel& one : device.found) {
      lines.push_back(one.channel.domain.name() + " " + std::string(to_string(one.channel.metric)));
    }
  }
  return lines;
}

std::vector<PlannedChannel> channels_of(const fakes::HwmonTree& tree) {
  std::vector<PlannedChannel> all;
  for (const HwmonDevice& device : find_devices(tree.system()).devices) {
    all.insert(all.end(), device.found.begin(), device.found.end());
  }
  return all;
}

TEST(HwmonAttribute, IsAPowerAnEnergyOrALimit) {
  EXPECT_EQ(parse_attribute("power1_input")->metric, Metric::power_instant);
  EXPECT_EQ(parse_attribute("power12_average")->metric, Metric::power_average);
  EXPECT_EQ(parse_attribute("power12_average")->number, 12U);
  EXPECT_EQ(parse_attribute("energy3_input")->metric, Metric::energy);
  EXPECT_EQ(parse_attribute("power1_cap")->metric, Metric::power_limit);
}

TEST(HwmonAttribute, IsNothingElse) {
  for (const char* name :
       {"", "power_input", "power1_average_interval", "power1_input_highest", "power1_cap_max",
        "powerx_input", "power-1_input", "power99999999999_input", "energy1_average", "in1_input",
        "power1_label", "energy1_input "}) {
    EXPECT_FALSE(parse_attribute(name)) << name;
  }
}

TEST(HwmonWord, IsPlainWhateverTheLabel) {
  EXPECT_EQ(word_of("VDD_CPU_GPU_CV"), "vdd_cpu_gpu_cv");
  EXPECT_EQ(word_of("power +12v"), "power_12v");
  EXPECT_EQ(word_of("  --12 V rail (\xc3\xa4)\x1b[1m "), "12_v_rail_1m");
  EXPECT_EQ(word_of(",;\xff"), "");
  EXPECT_EQ(word_of("a very long label that nobody wants to read"), "a_very_long_label_that_n");
  EXPECT_EQ(word_of("abcdefghijklmnopqrstuvw x"), "abcdefghijklmnopqrstuvw") << "no _ at its end";
}

TEST(HwmonChips, AreNamedByTheirOnlyInput) {
  fakes::HwmonTree tree;
  tree.add_ina226(0, "i2c-1/1-0040");
  EXPECT_THAT(found(tree), ElementsAre("hwmon_ina226 power_instant"));
}

TEST(HwmonChips, OfOneNameAreNumberedByTheirPlaceNotByTheirFolder) {
  fakes::HwmonTree tree;
  tree.add_ina226(3, "i2c-1/1-0041");
  tree.add_ina226(7, "i2c-1/1-0040");
  tree.write(7, "power1_input", "1\n");
  const std::vector<PlannedChannel> channels = channels_of(tree);
  ASSERT_EQ(channels.size(), 2U);
  EXPECT_EQ(channels[0].channel.domain.name(), "hwmon_ina226");
  EXPECT_EQ(channels[0].files.value, (tree.chip(7) / "power1_input").string());
  EXPECT_EQ(channels[1].channel.domain.name(), "hwmon_ina226_2");
}

TEST(HwmonChips, NameTheirRailsByLabelElseByNumber) {
  fakes::HwmonTree tree;
  tree.add_chip(0, "usb1/1-2", "corsairpsu",
                {{"power1_input", "140000000\n"},
                 {"power1_label", "power total\n"},
                 {"power2_input", "120000000\n"},
                 {"power2_label", "power +12v\n"},
                 {"power3_input", "1\n"}});
  EXPECT_THAT(found(tree), ElementsAre("hwmon_corsairpsu_power_total power_instant",
                                       "hwmon_corsairpsu_power_12v power_instant",
                                       "hwmon_corsairpsu_input3 power_instant"));
}

TEST(HwmonChips, GiveEachRailANameOfItsOwn) {
  fakes::HwmonTree tree;
  tree.add_chip(0, "a", "psu",
                {{"power1_input", "1\n"},
                 {"power1_label", "12 V\n"},
                 {"power2_input", "1\n"},
                 {"power2_label", "12-V\n"},
                 {"power3_input", "1\n"},
                 {"power3_label", "12v_2\n"}});
  EXPECT_THAT(found(tree),
              ElementsAre("hwmon_psu_12_v power_instant", "hwmon_psu_12_v_2 power_instant",
                          "hwmon_psu_12v_2 power_instant"));
}

TEST(HwmonChips, TakeEnergyAndPowerOfOneNumberForOneRail) {
  fakes::HwmonTree tree;
  tree.add_chip(0, "i2c-2/2-0045", "ina238",
                {{"power1_input", "1\n"}, {"energy1_input", "5\n"}, {"power1_cap", "9\n"}});
  EXPECT_THAT(found(tree), ElementsAre("hwmon_ina238 energy", "hwmon_ina238 power_instant",
                                       "hwmon_ina238 power_limit"));
}

TEST(HwmonChips, ShowAMeanWithItsLength) {
  fakes::HwmonTree tree;
  tree.add_power_meter(0, 0);
  const std::vector<PlannedChannel> channels = channels_of(tree);
  ASSERT_EQ(channels.size(), 2U);
  EXPECT_EQ(channels[0].channel.domain.name(), "hwmon_power_meter");
  EXPECT_EQ(channels[0].channel.metric, Metric::power_average);
  EXPECT_EQ(channels[0].channel.gauge.window, 1s);
  EXPECT_EQ(channels[1].channel.metric, Metric::power_limit);
}

TEST(HwmonChips, OfGraceLieInsideEachOther) {
  fakes::HwmonTree tree;
  tree.add_power_meter(0, 0, "Module Power Socket 0");
  tree.add_power_meter(1, 1, "Grace Power Socket 0");
  tree.add_power_meter(2, 2, "CPU Power Socket 0");
  tree.add_power_meter(3, 3, "SysIO Power Socket 0");
  tree.add_power_meter(4, 4, "CPU Power Socket 1");
  std::vector<std::string> inside;
  for (const PlannedChannel& one : channels_of(tree)) {
    if (!one.channel.gives_energy()) continue;
    const auto& outer = one.channel.contained_in;
    inside.push_back(one.channel.domain.name() + " in " + (outer ? outer->name() : "nothing"));
  }
  EXPECT_THAT(inside, ElementsAre("hwmon_module_power_socket_0 in nothing",
                                  "hwmon_grace_power_socket_0 in hwmon_module_power_socket_0",
                                  "hwmon_dram_power_socket_0 in hwmon_grace_power_socket_0",
                                  "hwmon_cpu_power_socket_0 in hwmon_grace_power_socket_0",
                                  "hwmon_sysio_power_socket_0 in hwmon_grace_power_socket_0",
                                  "hwmon_cpu_power_socket_1 in nothing"));
}

TEST(HwmonChips, OfSocketsLieInsideTheirPackage) {
  fakes::HwmonTree tree;
  tree.add_chip(0, "platform/amd_energy.0", "amd_energy",
                {{"energy1_input", "1\n"},
                 {"energy1_label", "Ecore000\n"},
                 {"energy2_input", "2\n"},
                 {"energy2_label", "Esocket0\n"}});
  const std::vector<PlannedChannel> channels = channels_of(tree);
  ASSERT_EQ(channels.size(), 1U) << "cores are left out";
  EXPECT_EQ(channels[0].channel.domain.name(), "hwmon_amd_energy_esocket0");
  EXPECT_EQ(channels[0].channel.contained_in, Domain::package(0));
}

TEST(HwmonChips, MultiplyVoltageAndCurrentWhereThatIsTheRails) {
  fakes::HwmonTree tree;
  tree.add_ina3221(0, "i2c-1/1-0040");
  const std::vector<PlannedChannel> channels = channels_of(tree);
  ASSERT_EQ(channels.size(), 3U) << "the sum has no voltage";
  EXPECT_EQ(channels[0].channel.domain.name(), "hwmon_ina3221_vdd_in");
  EXPECT_EQ(channels[0].files.factor, (tree.chip(0) / "in1_input").string());
}

TEST(HwmonChips, ThatOtherProvidersReadAreLeftOut) {
  fakes::HwmonTree tree;
  int number = 0;
  for (const char* name : {"amdgpu", "i915", "i915_gt0", "xe", "nouveau"}) {
    tree.add_chip(number, "pci0000:00/" + std::to_string(number), name,
                  {{"power1_input", "1\n"}, {"energy1_input", "1\n"}});
    ++number;
  }
  EXPECT_THAT(found(tree), IsEmpty());
}

TEST(HwmonChips, WithoutPowerAreNone) {
  fakes::HwmonTree tree;
  tree.add_chip(0, "nvme0", "nvme", {{"temp1_input", "40000\n"}});
  tree.add_chip(1, "coretemp", "coretemp", {{"temp1_input", "40000\n"}, {"power1_cap", "1\n"}});
  EXPECT_THAT(found(tree), IsEmpty());
}

TEST(HwmonChips, ThatShowABatteryAreLeftOut) {
  fakes::HwmonTree tree;
  tree.add_battery("axp20x-battery");
  tree.add_chip(0, "axp", "axp20x_battery", {{"power1_input", "1\n"}});
  EXPECT_THAT(found(tree), ElementsAre("battery_axp20x_battery power_instant"));
}

TEST(HwmonChips, WithVeryManyRailsAreSeveralSensors) {
  fakes::HwmonTree tree;
  fakes::HwmonTree::Files files;
  for (int i = 1; i <= 100; ++i) files["power" + std::to_string(i) + "_input"] = "1\n";
  tree.add_chip(0, "occ", "occ", files);
  const Devices all = find_devices(tree.system());
  ASSERT_EQ(all.devices.size(), 2U);
  EXPECT_EQ(all.devices[0].found.size(), 64U);
  EXPECT_EQ(all.devices[1].found.size(), 36U);
}

TEST(Batteries, AreReadWhileTheyDischarge) {
  fakes::HwmonTree tree;
  tree.add_battery("BAT0");
  const Devices all = find_devices(tree.system());
  ASSERT_EQ(all.devices.size(), 1U);
  EXPECT_EQ(all.devices[0].found[0].channel.domain.name(), "battery_bat0");
  EXPECT_EQ(all.devices[0].info.model, "DELL 4GVMP");
}

TEST(Batteries, ThatDoNotDischargeAreAbsent) {
  fakes::HwmonTree tree;
  tree.add_battery("BAT0");
  tree.write("BAT0", "status", "Charging\n");
  const Devices all = find_devices(tree.system());
  EXPECT_THAT(all.devices, IsEmpty());
  ASSERT_EQ(all.refused.size(), 1U);
  EXPECT_TRUE(all.refused[0].absent);
  EXPECT_EQ(all.refused[0].subject, "battery_bat0");
}

TEST(Batteries, ShowPowerByVoltageAndCurrentToo) {
  fakes::HwmonTree tree;
  tree.add_supply("BAT1", {{"type", "Battery\n"},
                           {"status", "Discharging\n"},
                           {"current_now", "-750000\n"},
                           {"voltage_now", "12000000\n"}});
  tree.add_supply("BAT2", {{"type", "Battery\n"}, {"status", "Discharging\n"}});
  const Devices all = find_devices(tree.system());
  ASSERT_EQ(all.devices.size(), 1U);
  EXPECT_EQ(all.devices[0].found[0].files.factor, (tree.supply("BAT1") / "voltage_now").string());
  ASSERT_EQ(all.refused.size(), 1U);
  EXPECT_EQ(all.refused[0].reason, "this battery shows no power");
}

TEST(Batteries, OfOtherDevicesAreNone) {
  fakes::HwmonTree tree;
  tree.add_battery("hidpp_battery_0");
  tree.write("hidpp_battery_0", "scope", "Device\n");
  tree.add_supply("AC", {{"type", "Mains\n"}, {"online", "1\n"}, {"power_now", "1\n"}});
  const Devices all = find_devices(tree.system());
  EXPECT_THAT(all.devices, IsEmpty());
  EXPECT_THAT(all.refused, IsEmpty());
}

}  // namespace
}  // namespace wattle::hwmon
