#include "sensors/kept_updates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <utility>

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

/// A GPU with a counter and a gauge.
class TwoChannels final : public Sensor {
 public:
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    for (Reading& reading : readings) reading.raw = 7;
  }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &device_; }

 private:
  DeviceInfo device_{.model = "NVIDIA A40", .driver = "535"};
  std::array<Channel, 2> channels_ = {
      Channel{.domain = Domain::nvidia_gpu(0),
              .update = {.mean = 100ms, .spread = 10ms, .p99 = 125ms},
              .source = "nvml"},
      Channel{.domain = Domain::nvidia_gpu(0),
              .update = {.mean = 100ms},
              .source = "nvml",
              .metric = Metric::power_instant}};
};

const KeptUpdate kOfA40 = {.sensor = "nvml energy nvidia_gpu NVIDIA A40 535",
                           .update = {.mean = 20ms, .spread = 1ms, .p99 = 23ms}};

std::vector<std::unique_ptr<Sensor>> one_sensor() {
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<TwoChannels>());
  return sensors;
}

TEST(KeptUpdates, AreOfAKindOfSensor) {
  const TwoChannels sensor;
  EXPECT_EQ(sensor_kind(sensor.channels()[0], sensor.device()), kOfA40.sensor);
  EXPECT_EQ(sensor_kind({.domain = Domain::package(3), .source = "powercap"}, nullptr),
            "powercap energy package");
}

TEST(KeptUpdates, AreReadAsTheyWereWritten) {
  const std::vector<KeptUpdate> read = parse_updates(to_json({kOfA40}));
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].sensor, kOfA40.sensor);
  EXPECT_EQ(read[0].update.mean, 20ms);
  EXPECT_EQ(read[0].update.spread, 1ms);
  EXPECT_EQ(read[0].update.p99, 23ms);
  EXPECT_TRUE(read[0].update.is_observed);
}

TEST(KeptUpdates, LeaveOutWhatNoSensorHas) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"schema":"wattle.updates/1","sensors":7})",
       R"({"schema":"wattle.updates/2","sensors":[{"sensor":"a","mean_s":1,"spread_s":0,"p99_s":1}]})",
       R"({"schema":"wattle.updates/1","sensors":[{"sensor":"a","mean_s":0,"spread_s":0,"p99_s":1}]})",
       R"({"schema":"wattle.updates/1","sensors":[{"sensor":"a","mean_s":-1,"spread_s":0,"p99_s":1}]})",
       R"({"schema":"wattle.updates/1","sensors":[{"sensor":"a","mean_s":1e9,"spread_s":0,"p99_s":1e9}]})",
       R"({"schema":"wattle.updates/1","sensors":[{"sensor":"a","mean_s":1,"spread_s":0,"p99_s":0.5}]})"}) {
    EXPECT_THAT(parse_updates(text), IsEmpty()) << text;
  }
}

TEST(KeptUpdates, TakeThePlaceOfWhatIsPublished) {
  auto sensors = with_kept_updates(one_sensor(), {kOfA40});
  ASSERT_THAT(sensors, SizeIs(1));
  EXPECT_EQ(sensors[0]->channels()[0].update.mean, 20ms);
  EXPECT_EQ(sensors[0]->channels()[1].update.mean, 100ms) << "the gauge was not measured";
  std::array<Reading, 2> readings;
  sensors[0]->read_some(ChannelSet().set(), readings);
  EXPECT_EQ(readings[1].raw, 7U);
}

TEST(KeptUpdates, SayWhatAGaugeSeesOfWhichNothingIsPublished) {
  const KeptUpdate gauge = {.sensor = "nvml power_instant nvidia_gpu NVIDIA A40 535",
                            .update = {.mean = 100ms, .spread = 1ms, .p99 = 103ms},
                            .window = 25ms};
  const auto sensors = with_kept_updates(one_sensor(), parse_updates(to_json({gauge})));
  const Channel& channel = sensors[0]->channels()[1];
  EXPECT_EQ(channel.gauge.window, 25ms);
  EXPECT_DOUBLE_EQ(channel.gauge.coverage.value_or(0.0), 0.25);
  EXPECT_TRUE(channel.update.is_observed);
}

TEST(KeptUpdates, SayWhetherACounterAddsUpWhatItsGaugeShows) {
  KeptUpdate counter = kOfA40;
  for (const CounterFeed feed : {CounterFeed::unknown, CounterFeed::own, CounterFeed::fed}) {
    counter.feed = feed;
    const auto sensors = with_kept_updates(one_sensor(), parse_updates(to_json({counter})));
    EXPECT_EQ(sensors[0]->channels()[0].counter.feed, feed);
  }
  EXPECT_THAT(to_json({counter}), testing::HasSubstr(R"("counter":"fed")"));
}

TEST(KeptUpdates, HaveNoWindowThatIsLongerThanAnUpdate) {
  const KeptUpdate gauge = {.sensor = "nvml power_instant nvidia_gpu NVIDIA A40 535",
                            .update = {.mean = 100ms, .spread = 1ms, .p99 = 103ms},
                            .window = 101ms};
  const std::vector<KeptUpdate> read = parse_updates(to_json({gauge}));
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].window, std::nullopt);
}

TEST(KeptUpdates, AreNotThoseOfAnotherDriver) {
  KeptUpdate other = kOfA40;
  other.sensor = "nvml energy nvidia_gpu NVIDIA A40 550";
  const auto sensors = with_kept_updates(one_sensor(), {other});
  EXPECT_EQ(sensors[0]->channels()[0].update.mean, 100ms);
}

}  // namespace
}  // namespace wattle
