#include "sensors/sensor.hpp"

#include <gtest/gtest.h>

#include <set>

namespace wattle {
namespace {

Channel channel_of(Metric metric) {
  return {.domain = Domain::nvidia_gpu(0),
          .counter = {.tick = Joules(0.001), .max_power = Watts(800.0)},
          .metric = metric,
          .gauge = {.scale = 1e6}};
}

TEST(Metric, EachHasANameAndAUnit) {
  std::set<std::string_view> names;
  for (auto i = static_cast<int>(Metric::energy); i <= static_cast<int>(Metric::clock_memory);
       ++i) {
    const auto metric = static_cast<Metric>(i);
    EXPECT_TRUE(names.insert(to_string(metric)).second) << to_string(metric);
    EXPECT_FALSE(unit_of(metric).empty()) << to_string(metric);
  }
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Channel, ScalesACounterByItsTickAndAGaugeByItsScale) {
  EXPECT_EQ(channel_of(Metric::energy).scale(), 0.001);
  EXPECT_EQ(channel_of(Metric::clock_sm).scale(), 1e6);
}

TEST(Channel, CountsEnergyOnlyForItsOwnDomain) {
  EXPECT_TRUE(channel_of(Metric::energy).counts_energy());
  EXPECT_FALSE(channel_of(Metric::power_instant).counts_energy());
  Channel module = channel_of(Metric::energy);
  module.scope = Scope::module;
  EXPECT_FALSE(module.counts_energy()) << "a module's energy is never its GPU's";
}

TEST(UpdateInterval, IsUnknownUnlessSomebodySaysOtherwise) {
  EXPECT_FALSE(UpdateInterval{}.known());
  EXPECT_TRUE(UpdateInterval{.mean = std::chrono::milliseconds(1)}.known());
}

/// As most sensors: reads everything at once.
class PlainSensor final : public Sensor {
 public:
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    readings[0].raw = 7;
  }

 private:
  std::vector<Channel> channels_ = {channel_of(Metric::energy)};
};

TEST(Sensor, ReadsEverythingWhereItCannotReadLess) {
  PlainSensor sensor;
  std::vector<Reading> readings(1);
  sensor.read_some({}, readings);
  EXPECT_EQ(readings[0].raw, 7U);
}

TEST(Sensor, NeedsNoLaneOfItsOwnAndKnowsNoProcessesUnlessItSaysSo) {
  PlainSensor sensor;
  EXPECT_FALSE(sensor.may_block());
  EXPECT_EQ(sensor.device(), nullptr);
  EXPECT_FALSE(sensor.processes().has_value());
}

}  // namespace
}  // namespace wattle
