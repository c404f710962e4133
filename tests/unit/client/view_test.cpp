#include <gtest/gtest.h>

#include "client/update.hpp"

namespace wattle::client {
namespace {

constexpr Slot kGpu0{.server = 0, .device = 0};
constexpr Slot kGpu7{.server = 0, .device = 7};
constexpr Slot kCpu0{.server = 0, .device = 0, .type = DeviceType::cpu};

class AView : public testing::Test {
 protected:
  const PowerReadings& a() const { return view_.readings().at("a:1"); }

  View view_{{{.endpoint = "a:1"}, {.endpoint = "b:1"}}};
};

TEST_F(AView, HasEveryServerFromTheBegin) {
  EXPECT_EQ(view_.readings().size(), 2U);
  EXPECT_EQ(a().timestamp_s, 0.0);
  EXPECT_TRUE(a().gpu_power.empty());
  EXPECT_TRUE(std::isinf(a().clock_offset_uncertainty_s));
}

TEST_F(AView, KeepsTheOtherDevicesWhereOneIsUpdated) {
  view_.apply({.timestamp_s = 1.0, .power_w = 10.0, .slot = 0}, kGpu0);
  view_.apply({.timestamp_s = 2.0, .power_w = 20.0, .slot = 1}, kGpu7);
  view_.apply({.timestamp_s = 3.0, .power_w = 11.0, .slot = 0}, kGpu0);
  EXPECT_EQ(a().gpu_power, (std::map<std::uint32_t, Watts>{{0, Watts(11.0)}, {7, Watts(20.0)}}));
  EXPECT_EQ(a().gpu_time_s, (std::map<std::uint32_t, double>{{0, 3.0}, {7, 2.0}}));
  EXPECT_TRUE(view_.readings().at("b:1").gpu_power.empty());
}

TEST_F(AView, HasNoValueForWhatACpuDoesNotReport) {
  view_.apply({.timestamp_s = 1.0, .power_w = 10.0, .slot = 0}, kCpu0);
  EXPECT_EQ(a().cpu_power.at(0), (CpuPowerReading{.cpu = Watts(10.0)}));
  view_.apply({.timestamp_s = 1.0, .dram_w = 5.0, .slot = 0}, kCpu0);
  EXPECT_EQ(a().cpu_power.at(0), (CpuPowerReading{.dram = Watts(5.0)}));
}

TEST_F(AView, HasTheLatestTimeOfItsDevices) {
  view_.apply({.timestamp_s = 5.0, .power_w = 1.0, .slot = 0}, kGpu0);
  view_.apply({.timestamp_s = 4.0, .power_w = 1.0, .slot = 1}, kCpu0);
  EXPECT_EQ(a().timestamp_s, 5.0);
}

TEST_F(AView, FollowsTimesThatGoBack) {
  view_.apply({.timestamp_s = 5000.0, .power_w = 1.0, .slot = 0}, kGpu0);
  view_.apply({.timestamp_s = 1000.0, .power_w = 1.0, .slot = 1}, kCpu0);
  view_.apply({.timestamp_s = 900.0, .power_w = 1.0, .slot = 0}, kGpu0);
  EXPECT_EQ(a().timestamp_s, 1000.0);
}

TEST_F(AView, ForgetsWhatIsGoneAndTakesItBack) {
  view_.apply({.timestamp_s = 5.0, .power_w = 1.0, .slot = 0}, kGpu0);
  view_.apply({.timestamp_s = 6.0, .power_w = 1.0, .slot = 1}, kGpu7);
  view_.apply({.timestamp_s = 7.0, .slot = 1, .is_gone = true}, kGpu7);
  EXPECT_EQ(a().gpu_power.size(), 1U);
  EXPECT_EQ(a().gpu_time_s.size(), 1U);
  EXPECT_EQ(a().timestamp_s, 5.0);
  view_.apply({.timestamp_s = 8.0, .power_w = 3.0, .slot = 1}, kGpu7);
  EXPECT_EQ(a().gpu_power.at(7).si(), 3.0);
}

}  // namespace
}  // namespace wattle::client
