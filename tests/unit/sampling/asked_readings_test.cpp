// Devices that are read in lanes when somebody asks, and which have no lane.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fakes/gated_sensor.hpp"
#include "known_history.hpp"
#include "sampling/readings.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

/// Two devices that are read at the start, and then only if somebody asks; at the end their gates
/// are open.
class AskedReadings : public testing::Test {
 protected:
  AskedReadings() {
    std::vector<ReadingWork> work;
    for (unsigned i = 0; i < 2; ++i) {
      Channel channel = whole_watts();
      channel.domain = Domain::nvidia_gpu(i);
      ReadingWork& device = work.emplace_back(
          ReadingWork{.lane = {.period = 1h, .only_when_asked = true}, .is_slow = false});
      histories_.push_back(&device
                                .add(std::make_shared<fakes::GatedSensor>(
                                         std::vector{channel}, gates_.at(i), machine_clock()),
                                     ChannelSet(1), kMinTimelineBytes)
                                .front());
    }
    readings_.emplace(std::move(work), machine_clock());
    readings_->wait_for_first(soon());
  }
  ~AskedReadings() override {
    for (const auto& gate : gates_) gate->open();
  }
  AskedReadings(const AskedReadings&) = delete;
  AskedReadings& operator=(const AskedReadings&) = delete;

  [[nodiscard]] static TimePoint soon() { return machine_clock().now() + fakes::kLongWait; }
  [[nodiscard]] std::pair<int, int> reads() const { return {gates_[0]->reads, gates_[1]->reads}; }

  std::array<std::shared_ptr<fakes::Gate>, 2> gates_{std::make_shared<fakes::Gate>(),
                                                     std::make_shared<fakes::Gate>()};
  std::vector<const History*> histories_;
  std::optional<Readings> readings_;
};

TEST_F(AskedReadings, HaveReadOnceWhenTheFirstReadingIsDone) {
  EXPECT_EQ(reads(), std::pair(1, 1));
}

TEST_F(AskedReadings, ReadEveryDeviceNow) {
  EXPECT_TRUE(readings_->read_now(soon()));
  EXPECT_EQ(reads(), std::pair(2, 2));
  gates_[0]->shut();
  EXPECT_FALSE(readings_->read_now(machine_clock().now() + 1ms)) << "one does not answer";
}

TEST_F(AskedReadings, CatchUpWithTheDevicesWhoseNewestValueIsTooOld) {
  const std::vector<const History*> second{nullptr, histories_[1]};
  readings_->catch_up(second, machine_clock().now() - 1h, soon());
  EXPECT_EQ(reads(), std::pair(1, 1)) << "what is there is new enough";
  readings_->catch_up(second, machine_clock().now(), soon());
  EXPECT_EQ(reads(), std::pair(1, 2)) << "nobody asked for the first one";
}

TEST_F(AskedReadings, AreAskedNoMoreAfterTheyWereStopped) {
  readings_->stop(soon());
  EXPECT_FALSE(readings_->read_now(machine_clock().now() + 1ms));
  EXPECT_EQ(reads(), std::pair(1, 1));
}

TEST(ReadingsOfNamedDomains, HaveNoLaneForADeviceOfWhichNothingIsRead) {
  const auto gate = std::make_shared<fakes::Gate>();
  const auto readings_of = [&](std::optional<std::vector<Domain>> domains) {
    std::vector<std::unique_ptr<Sensor>> sensors;
    for (unsigned i = 0; i < 3; ++i) {
      Channel channel = whole_watts();
      channel.domain = Domain::nvidia_gpu(i);
      sensors.push_back(
          std::make_unique<fakes::GatedSensor>(std::vector{channel}, gate, machine_clock()));
    }
    return std::make_unique<Readings>(std::move(sensors), machine_clock(),
                                      ReadingsOptions{.domains = std::move(domains)});
  };
  EXPECT_EQ(readings_of({{Domain::nvidia_gpu(1)}})->lane_threads(), 1U);
  EXPECT_EQ(readings_of({})->lane_threads(), 3U);
}

TEST(ReadingsInTheCallersThread, HaveNoLane) {
  const auto gate = std::make_shared<fakes::Gate>();
  std::vector<ReadingWork> work;
  work.push_back({.is_prompt = true});
  work.back().add(
      std::make_shared<fakes::GatedSensor>(std::vector{whole_watts()}, gate, machine_clock()),
      ChannelSet(1), kMinTimelineBytes);
  Readings readings(std::move(work), machine_clock());
  EXPECT_EQ(readings.lane_threads(), 0U);
  EXPECT_EQ(gate->reads, 0);
  readings.read();
  EXPECT_EQ(gate->reads, 1);
  EXPECT_FALSE(readings.read_now(TimePoint::max())) << "there is nothing to ask";
}

}  // namespace
}  // namespace wattle
