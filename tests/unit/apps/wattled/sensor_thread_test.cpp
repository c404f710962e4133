#include "sensor_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <span>

#include "sensors/sensor.hpp"

namespace wattle::daemon {
namespace {

class NoSensor final : public Sensor {
 public:
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return {}; }
  void read(std::span<Reading> /*readings*/) noexcept override {}
};

TEST(SensorThread, RefusesACrowdBehindAJobThatHangsButNotTheLastOne) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::promise<void> last;
  std::atomic<int> done{0};
  SensorThread thread(std::make_shared<NoSensor>());
  ASSERT_TRUE(thread.ask([released](Sensor&) { released.wait(); }));
  int taken = 0;
  while (taken < 100 && thread.ask([&done](Sensor&) { ++done; })) ++taken;
  EXPECT_LT(taken, 100);
  int done_before_the_last = -1;
  EXPECT_TRUE(thread.ask(
      [&](Sensor&) {
        done_before_the_last = done;
        last.set_value();
      },
      Crowd::waits));
  release.set_value();
  last.get_future().wait();
  EXPECT_EQ(done_before_the_last, taken);
}

}  // namespace
}  // namespace wattle::daemon
