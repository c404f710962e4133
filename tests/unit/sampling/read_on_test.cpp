// How long counters are read on after the end of a command.
#include "sampling/read_on.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// A counter that is renewed every `update`, each reading of which takes 100 us of its clock.
class ReadCounter {
 public:
  explicit ReadCounter(nanoseconds update) {
    const Channel channel = {.domain = Domain::package(0),
                             .counter = {.tick = Joules(1e-3), .max_power = Watts(1000.0)},
                             .update = {.mean = update, .p99 = update}};
    const auto script = [this, update](TimePoint now) {
      ++reads_;
      clock_.advance(100us);
      const auto updates = static_cast<std::uint64_t>(now.time_since_epoch() / update);
      return fakes::Shown{.raw = is_moving_ ? updates : 0};
    };
    std::vector<std::unique_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(
        std::vector<fakes::ScriptedCounter>{{channel, script}}, clock_));
    readings_ = std::make_unique<Readings>(std::move(sensors), clock_, ReadingsOptions{});
    readings_->read();
    reads_ = 0;
  }
  void stop_moving() { is_moving_ = false; }
  int reads_within(nanoseconds longest) {
    read_on(*readings_, longest);
    return reads_;
  }

 private:
  fakes::VirtualClock clock_;
  bool is_moving_ = true;
  int reads_ = 0;
  std::unique_ptr<Readings> readings_;
};

TEST(ReadOn, EndsWithTheFourthUpdate) {
  ReadCounter counter(1ms);
  const int reads = counter.reads_within(250ms);
  EXPECT_GE(reads, 30);
  EXPECT_LE(reads, 41);
}

TEST(ReadOn, DoesNotWaitForACounterThatIsRenewedTooSeldom) {
  ReadCounter counter(1ms);
  EXPECT_EQ(counter.reads_within(1500us), 0) << "a run of 3 ms";
}

TEST(ReadOn, GivesUpOnACounterThatStandsStill) {
  ReadCounter counter(1ms);
  counter.stop_moving();
  EXPECT_LE(counter.reads_within(250ms), 101) << "10 ms";
}

}  // namespace
}  // namespace wattle
