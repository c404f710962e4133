// What a meter does with devices whose driver may block.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "energy/columns.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/scripted_sensor.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

/// A package at 100 W, and a GPU whose counter advances by a joule at each reading.
class GpuMeter : public testing::Test {
 protected:
  EnergyMeter meter(bool has_counter = true) {
    detail::ColumnParts parts;
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(fakes::constant_power(fakes::counter_channel(Domain::package(0)),
                                             Watts(100.0), clock_.now()));
    parts.sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    std::vector<Channel> channels;
    if (has_counter) {
      channels.push_back({.domain = Domain::nvidia_gpu(0),
                          .counter = {.tick = Joules(1.0), .max_power = Watts(1e6)}});
    } else {
      channels.push_back({.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant});
    }
    parts.sensors.push_back(
        std::make_unique<fakes::GatedSensor>(std::move(channels), gate_, clock_));
    parts.domains = {Domain::package(0), Domain::nvidia_gpu(0)};
    return EnergyMeter(std::make_shared<detail::EnergyColumns>(std::move(parts), clock_));
  }

  const Clock& clock_ = machine_clock();
  std::shared_ptr<fakes::Gate> gate_ = std::make_shared<fakes::Gate>();
};

TEST_F(GpuMeter, ReadsTheCounterAtBothEnds) {
  EnergyMeter gpu = meter();
  gpu.start("x");
  const int reads = gate_->reads;
  EXPECT_TRUE(fakes::eventually([&] { return gate_->reads >= reads + 3; }));
  gpu.stop();
  const MeasuredEnergy energy = gpu.trace()["x"].energy("nvidia_gpu_0");
  ASSERT_TRUE(energy.energy);
  EXPECT_GE(energy.energy->si(), 4.0) << "three readings in between, and the one at the end";
  EXPECT_FALSE(energy.flags.has(Flag::late));
}

TEST_F(GpuMeter, SumsUpPowerWhereThereIsNoCounter) {
  EnergyMeter gpu = meter(false);
  gpu.start("x");
  const int reads = gate_->reads;
  EXPECT_TRUE(fakes::eventually([&] { return gate_->reads >= reads + 4; }));
  gpu.stop();
  const MeasuredEnergy energy = gpu.trace()["x"].energy("nvidia_gpu_0");
  ASSERT_TRUE(energy.energy);
  EXPECT_GT(energy.energy->si(), 0.0);
}

TEST_F(GpuMeter, DoesNotWaitForOneThatHangs) {
  EnergyMeter gpu = meter();
  gpu.start("x");
  gate_->shut();
  const TimePoint before = clock_.now();
  gpu.stop();
  EXPECT_LT(clock_.now() - before, fakes::kLongWait) << "it has half a second";
  const EnergyTrace trace = gpu.trace();
  EXPECT_TRUE(trace["x"].energy("nvidia_gpu_0").flags.has(Flag::late));
  EXPECT_TRUE(trace["x"].energy("package_0").energy);
  EXPECT_LT(trace["x"].energy("package_0").unknown, Seconds(1e-3));
  gate_->open();
}

TEST_F(GpuMeter, KeepsTheOthersWhereOneIsLost) {
  EnergyMeter gpu = meter();
  gpu.start("x");
  gate_->status = ReadStatus::gone;
  gpu.stop();
  const EnergyTrace trace = gpu.trace();
  EXPECT_EQ(trace["x"].energy("nvidia_gpu_0").energy, std::nullopt);
  EXPECT_TRUE(trace["x"].energy("package_0").energy);
}

}  // namespace
}  // namespace wattle
