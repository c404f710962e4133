// What a meter does with devices whose driver may block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "energy/metered_domains.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/scripted_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

/// A package at 100 W, and a GPU whose counter advances by a joule at each reading.
class GpuMeter : public testing::Test {
 protected:
  EnergyMeter meter(bool has_counter = true, const GaugeTraits& gauge = {}) {
    detail::MeterParts parts;
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(fakes::constant_power(fakes::counter_channel(Domain::package(0)),
                                             Watts(100.0), clock_.now()));
    parts.sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    std::vector<Channel> channels;
    if (has_counter) {
      channels.push_back({.domain = Domain::nvidia_gpu(0),
                          .counter = {.tick = Joules(1.0), .max_power = Watts(1e6)}});
    } else {
      channels.push_back(
          {.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant, .gauge = gauge});
    }
    parts.sensors.push_back(
        std::make_unique<fakes::GatedSensor>(std::move(channels), gate_, clock_));
    parts.domains = {Domain::package(0), Domain::nvidia_gpu(0)};
    return detail::EnergyMeterMaker::meter(
        std::make_shared<detail::MeteredDomains>(std::move(parts), clock_));
  }

  const TimeSource& clock_ = machine_clock();
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
  EXPECT_GT(energy.energy->si(), 3.0)
      << "three readings in between, and the one at the end, which may come late";
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

TEST_F(GpuMeter, HasTheFlagOfAGaugeThatSeesAPartOfTheTimeWhereverItIsWritten) {
  EnergyMeter gpu = meter(false, {.window = 25ms, .coverage = 0.25});
  gpu.start("x");
  const int reads = gate_->reads;
  EXPECT_TRUE(fakes::eventually([&] { return gate_->reads >= reads + 4; }));
  gpu.stop();
  const EnergyTrace trace = gpu.trace();
  std::ostringstream printed;
  printed << trace["x"].energy("nvidia_gpu_0");
  EXPECT_THAT(printed.str(),
              testing::AllOf(testing::HasSubstr(" ±"), testing::HasSubstr("partial_coverage")));
  std::ostringstream lines;
  PrintHandler(lines, {.details = true}).process(trace);
  EXPECT_THAT(lines.str(),
              testing::AllOf(testing::HasSubstr("(+- "), testing::HasSubstr("partial_coverage")));
  const fakes::TempFolder folder;
  const std::filesystem::path path = folder.path() / "energies.csv";
  CsvHandler file(path, {.details = true});
  file.process(trace);
  file.save_data();
  std::stringstream rows;
  rows << std::ifstream(path).rdbuf();
  EXPECT_THAT(rows.str(), testing::AllOf(testing::HasSubstr("nvidia_gpu_0_uncertainty"),
                                         testing::HasSubstr("partial_coverage")));
  EXPECT_TRUE(to_table(trace).domains.back().energies.front().flags.has(Flag::partial_coverage));
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

TEST_F(GpuMeter, DoesNotWaitAgainForOneThatStillHangs) {
  EnergyMeter gpu = meter();
  gpu.start("x");
  gate_->shut();
  const TimePoint before = clock_.now();
  constexpr int kRecords = 40;
  for (int i = 0; i < kRecords; ++i) gpu.record("x");
  EXPECT_LT(clock_.now() - before, kRecords * 500ms / 4) << "half a second, once";
  gpu.stop();
  gate_->open();
}

/// Draws 100 W, and takes its time to say so.
class SlowGpu final : public Sensor {
 public:
  SlowGpu(const TimeSource& clock, std::chrono::milliseconds delay)
      : clock_(clock), delay_(delay) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    std::this_thread::sleep_for(delay_);
    const TimePoint now = clock_.now();
    const double energy_mj = 100.0 * Seconds(now - began_).count() * 1000.0;
    readings[0] = {
        .at = now, .raw = static_cast<std::uint64_t>(energy_mj), .status = ReadStatus::ok};
  }

 private:
  const TimeSource& clock_;
  std::chrono::milliseconds delay_;
  TimePoint began_ = clock_.now();
  std::vector<Channel> channels_ = {
      {.domain = Domain::nvidia_gpu(0),
       .counter = {.tick = Joules(1e-3), .max_power = Watts(2000.0)}}};
};

TEST_F(GpuMeter, LosesNothingBetweenStretchesOfADeviceThatIsSlowToAnswer) {
  constexpr auto kDelay = 40ms;
  detail::MeterParts parts;
  parts.sensors.push_back(std::make_unique<SlowGpu>(clock_, kDelay));
  parts.domains = {Domain::nvidia_gpu(0)};
  EnergyMeter meter = detail::EnergyMeterMaker::meter(
      std::make_shared<detail::MeteredDomains>(std::move(parts), clock_));
  const TimePoint begin = clock_.now();
  meter.start("x");
  constexpr int kStretches = 8;
  for (int i = 1; i < kStretches; ++i) meter.record("x");
  const Seconds length = clock_.now() - begin;
  meter.stop();
  double sum_j = 0.0;
  for (const EnergySample& sample : meter.trace()) {
    sum_j += sample.energy("nvidia_gpu_0").energy.value_or(Joules()).si();
  }
  // Each border would cost 4 J; the ends, and a busy machine, may cost some.
  EXPECT_GT(sum_j, 100.0 * length.count() - 100.0 * 3 * Seconds(kDelay).count());
}

TEST_F(GpuMeter, IsNamedWhereAMeterCannotBeAlignedToIt) {
  detail::MeterParts parts;
  parts.aligned = true;
  parts.sensors.push_back(std::make_unique<fakes::ScriptedSensor>(
      std::vector{fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(50.0),
                                        clock_.now())},
      clock_));
  parts.sensors.push_back(std::make_unique<SlowGpu>(clock_, 0ms));
  parts.domains = {Domain::package(0), Domain::nvidia_gpu(0)};
  try {
    const detail::MeteredDomains metered(std::move(parts), clock_);
    FAIL() << "a GPU is read in a thread of its own";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cannot align to nvidia_gpu_0: "));
  }
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
