// The total of a period of `wattle top`, and the powers that are plotted.
#include "top/observation.hpp"

#include <gtest/gtest.h>

#include <string>

#include "top/device_table.hpp"

namespace wattle::app {
namespace {

TopDevice device(const std::string& name, std::optional<Uncertain> power, double joules = 10.0) {
  return {.name = name,
          .is_counted = true,
          .power = power,
          .energy = {.energy = Joules(joules), .uncertainty = Joules(1.0)}};
}

TEST(TopTotal, AddsUpPowersAndTheirErrorsAsThoseOfIndependentDevices) {
  TopObservation seen{.elapsed = Seconds(1.0)};
  seen.devices = {device("package_0", Uncertain{100.0, 3.0}, 100.0),
                  device("nvidia_gpu_0", Uncertain{50.0, 4.0}, 50.0)};
  seen.devices.push_back(device("core_0", Uncertain{70.0, 9.0}));
  seen.devices.back().is_counted = false;
  const auto total = total_of(seen);
  ASSERT_TRUE(total && total->power);
  EXPECT_DOUBLE_EQ(total->power->value, 150.0);
  EXPECT_DOUBLE_EQ(total->power->uncertainty, 5.0);
  EXPECT_EQ(total->energy.energy, Joules(150.0));
  EXPECT_FALSE(total->is_lower_bound);
}

TEST(TopTotal, AddsUpWhatComesBackWithItsSign) {
  TopObservation seen{.elapsed = Seconds(1.0)};
  seen.devices = {device("nvidia_gpu_0", Uncertain{50.0, 4.0}),
                  device("nvidia_gpu_1", Uncertain{50.0, 4.0})};
  for (TopDevice& each : seen.devices) each.power_common_w = 4.0;
  EXPECT_DOUBLE_EQ(total_of(seen)->power->uncertainty, 8.0);
  seen.devices.front().power_common_w = -4.0;
  EXPECT_DOUBLE_EQ(total_of(seen)->power->uncertainty, 0.0);
}

TEST(TopTotal, IsALowerBoundWhereAPowerIsNotKnown) {
  TopObservation seen{.elapsed = Seconds(2.0)};
  seen.devices = {device("package_0", std::nullopt), device("dram_0", Uncertain{5.0, 0.1})};
  seen.devices[0].energy = {};
  const auto total = total_of(seen);
  ASSERT_TRUE(total && total->power);
  EXPECT_DOUBLE_EQ(total->power->value, 5.0);
  EXPECT_TRUE(total->is_lower_bound);
  EXPECT_EQ(total->energy.unknown, Seconds(2.0));
}

TEST(TopTotal, IsAbsentWithoutDevicesThatCount) {
  TopObservation seen;
  EXPECT_FALSE(total_of(seen));
  seen.devices = {device("core_0", Uncertain{1.0, 0.1})};
  seen.devices[0].is_counted = false;
  EXPECT_FALSE(total_of(seen));
}

TEST(TopTotal, IsALowerBoundWhileAMachineIsInTroubleOrNotLive) {
  TopObservation seen{.elapsed = Seconds(2.0)};
  seen.devices = {device("package_0", Uncertain{5.0, 0.1})};
  seen.devices[0].machine = "a";
  seen.machines = {{.name = "a", .is_live = true}};
  EXPECT_FALSE(total_of(seen)->is_lower_bound);
  EXPECT_EQ(total_of(seen)->energy.unknown, Seconds(0.0));
  seen.machines[0].trouble = "the CPU stream is denied";
  EXPECT_TRUE(total_of(seen)->is_lower_bound);
  seen.machines[0] = {.name = "a", .is_live = false};
  EXPECT_TRUE(total_of(seen)->is_lower_bound);
  EXPECT_EQ(total_of(seen)->energy.unknown, Seconds(2.0)) << "of devices that were never reached";
}

TEST(TopTotal, CountsTheUnknownTimeOfADeviceInTroubleOnce) {
  TopObservation seen{.elapsed = Seconds(2.0)};
  seen.devices = {device("package_0", std::nullopt)};
  seen.devices[0].machine = "a";
  seen.devices[0].energy.unknown = Seconds(0.5);
  seen.machines = {{.name = "a", .is_live = false}};
  EXPECT_EQ(total_of(seen)->energy.unknown, Seconds(0.5)) << "the device reports its own";
}

TopObservation period(std::optional<double> watts) {
  TopObservation seen;
  seen.devices = {
      device("package_0", watts ? std::optional(Uncertain{*watts, 0.0}) : std::nullopt)};
  return seen;
}

TEST(PowerTrails, PlotTheNewestPeriodsFromZeroToTheLargestOfThem) {
  PowerTrails trails;
  for (const auto watts : {std::optional(700.0), std::optional(0.0), std::optional<double>(),
                           std::optional(50.0), std::optional(100.0)}) {
    trails.add(period(watts));
  }
  const std::string key = PowerTrails::key_of(period(1.0).devices[0]);
  EXPECT_EQ(trails.plot(key, 4), "▁ ▅█") << "700 W is not shown any more";
  EXPECT_EQ(trails.plot(key, 7), "  █▁ ▂▂");
  EXPECT_EQ(trails.plot("another", 4), "");
}

TEST(PowerTrails, ForgetOldPeriodsAndDevicesThatAreGone) {
  PowerTrails trails;
  trails.add(period(1000.0));
  for (std::size_t i = 0; i < PowerTrails::kMost; ++i) trails.add(period(1.0));
  const std::string key = PowerTrails::key_of(period(1.0).devices[0]);
  std::string full;
  for (std::size_t i = 0; i < PowerTrails::kMost; ++i) full += "█";
  EXPECT_EQ(trails.plot(key, PowerTrails::kMost), full);
  trails.add({});
  EXPECT_EQ(trails.plot(key, 4), "");
}

}  // namespace
}  // namespace wattle::app
