// What the recorder does with sensors that have more than energy counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fakes/one_window.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Advances by a second at each reading of the sensor.
class SensorClock final : public TimeSource {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return now_; }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return {}; }
  void advance() noexcept { now_ += std::chrono::seconds(1); }

 private:
  TimePoint now_{std::chrono::hours(1)};
};

/// Every channel's raw value grows by 100 a reading.
class GpuLikeSensor final : public Sensor {
 public:
  GpuLikeSensor(std::vector<Channel> channels, SensorClock& clock,
                std::vector<ChannelSet>& asked_for)
      : channels_(std::move(channels)), clock_(clock), asked_for_(asked_for) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override {
    clock_.advance();
    value_ += 100;
    asked_for_.push_back(wanted);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (wanted[i]) readings[i] = {.at = clock_.now(), .raw = value_, .status = ReadStatus::ok};
    }
  }

 private:
  std::vector<Channel> channels_;
  SensorClock& clock_;
  std::vector<ChannelSet>& asked_for_;
  std::uint64_t value_ = 0;
};

Channel gpu_channel(Metric metric, Scope scope = Scope::device) {
  return {.domain = Domain::nvidia_gpu(0),
          .counter = {.tick = Joules(1.0), .max_power = Watts(1000.0)},
          .metric = metric,
          .scope = scope};
}

class ReadingsOfGauges : public testing::Test {
 protected:
  fakes::OneWindow recorder_of(std::vector<Channel> channels) {
    std::vector<std::unique_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<GpuLikeSensor>(std::move(channels), clock_, asked_for_));
    return {std::move(sensors), clock_};
  }

  SensorClock clock_;
  std::vector<ChannelSet> asked_for_;
};

TEST_F(ReadingsOfGauges, MeasuresTheCounterAmongThem) {
  fakes::OneWindow recorder =
      recorder_of({gpu_channel(Metric::power_instant), gpu_channel(Metric::energy),
                   gpu_channel(Metric::temperature)});
  recorder.read(false);
  const TimePoint begin = clock_.now();
  recorder.read(true);
  const auto results = recorder.figures(begin, clock_.now());
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].figure.metric, Metric::energy);
  EXPECT_EQ(results[0].figure.energy, Joules(100.0));
  EXPECT_EQ(recorder.interval_power(), Watts(100.0));
}

TEST_F(ReadingsOfGauges, AsksTheDriverForWhatReportsEnergyOnly) {
  fakes::OneWindow recorder =
      recorder_of({gpu_channel(Metric::power_instant), gpu_channel(Metric::energy),
                   gpu_channel(Metric::temperature)});
  recorder.read(false);
  EXPECT_THAT(asked_for_, ElementsAre(ChannelSet(0b011)));
}

TEST_F(ReadingsOfGauges, LeavesAModulesCounterOut) {
  fakes::OneWindow recorder = recorder_of({gpu_channel(Metric::energy, Scope::module)});
  recorder.read(false);
  EXPECT_THAT(recorder.figures(clock_.now(), clock_.now()), IsEmpty());
  EXPECT_THAT(asked_for_, IsEmpty()) << "nothing to read: no call";
}

}  // namespace
}  // namespace wattle
