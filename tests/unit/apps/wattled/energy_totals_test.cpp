#include "devices/energy_totals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fakes/scripted_sensor.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using namespace std::chrono_literals;

Channel gauge_of(const Domain& domain) {
  return {.domain = domain,
          .update = {.mean = 100ms, .spread = 0ms, .p99 = 100ms},
          .source = "script",
          .metric = Metric::power_instant};
}

/// Hangs while it is shut.
class HangingSensor final : public ForwardingSensor {
 public:
  using ForwardingSensor::ForwardingSensor;
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override {
    ++calls;
    while (is_shut) std::this_thread::yield();
    ForwardingSensor::read_some(wanted, readings);
  }
  [[nodiscard]] bool may_block() const noexcept override { return true; }

  std::atomic<bool> is_shut{true};
  std::atomic<int> calls{0};
};

/// A GPU without a counter, a meter, and one with a counter, which do not block.
class EnergyTotalsTest : public testing::Test {
 protected:
  EnergyTotalsTest() {
    add(gauge_of(Domain::nvidia_gpu(1)), [this] { return gpu_w_; });
    add(gauge_of(Domain::custom("hwmon", "psu")), [] { return 250U; });
    channels_.push_back(fakes::constant_power(
        fakes::counter_channel(Domain::custom("hwmon", "socket")), Watts(60.0), loop_.now()));
  }

  void add(Channel channel, std::function<std::uint64_t()> watts) {
    channels_.push_back({std::move(channel), [this, watts = std::move(watts)](TimePoint) {
                           ++reads_;
                           return fakes::Shown{watts(), status_};
                         }});
  }
  void start() {
    for (fakes::ScriptedCounter& counter : channels_) {
      totals_.add(EnergyTotals::reader_of(std::make_shared<fakes::ScriptedSensor>(
                                              std::vector<fakes::ScriptedCounter>{counter}, clock_),
                                          clock_));
    }
  }
  EnergyTotals::DomainTotal total(const Domain& domain = Domain::nvidia_gpu(1)) {
    const std::vector<EnergyTotals::DomainTotal> all = totals_.read();
    const auto found = std::ranges::find(all, domain, &EnergyTotals::DomainTotal::domain);
    EXPECT_NE(found, all.end()) << domain.name();
    return *found;
  }

  VirtualLoop loop_;
  LoopClock clock_{loop_};
  std::vector<fakes::ScriptedCounter> channels_;
  std::uint64_t gpu_w_ = 100;
  ReadStatus status_ = ReadStatus::ok;
  int reads_ = 0;
  EnergyTotals totals_{loop_};
};

TEST_F(EnergyTotalsTest, TakeACounterWhereThereIsOne) {
  start();
  const Domain socket = Domain::custom("hwmon", "socket");
  EXPECT_FALSE(total(socket).is_integrated);
  loop_.advance(100s);
  EXPECT_NEAR(total(socket).energy.si(), 6000.0, 15.0);
  EXPECT_LT(total(socket).unknown, 200ms);
}

TEST_F(EnergyTotalsTest, StartAtTheFirstScrapeWith0) {
  start();
  loop_.advance(10s);
  const EnergyTotals::DomainTotal first = total();
  EXPECT_EQ(first.energy.si(), 0.0);
  EXPECT_EQ(first.since, loop_.now());
  EXPECT_TRUE(first.is_integrated);
  loop_.advance(10s);
  EXPECT_NEAR(total().energy.si(), 1000.0, 15.0);
  EXPECT_EQ(total().since, first.since);
}

TEST_F(EnergyTotalsTest, FollowThePowerBetweenScrapes) {
  start();
  (void)total();
  for (int i = 0; i < 30; ++i) {
    gpu_w_ = i % 2 == 0 ? 400 : 100;
    loop_.advance(1s);
  }
  const EnergyTotals::DomainTotal after = total();
  EXPECT_NEAR(after.energy.si(), 7500.0, after.uncertainty.si());
  EXPECT_LT(after.uncertainty.si(), 400.0);
  EXPECT_LT(after.unknown, 150ms);
}

TEST_F(EnergyTotalsTest, HaveErrorsThatAddUpInSquares) {
  start();
  (void)total();
  const auto after_an_hour = [&] {
    for (int minute = 0; minute < 60; ++minute) {
      loop_.advance(60s);
      (void)total();
    }
    return total().uncertainty.si();
  };
  const double once_j = after_an_hour();
  for (int hour = 1; hour < 3; ++hour) (void)after_an_hour();
  EXPECT_LT(after_an_hour(), 3.0 * once_j) << "of four hours";
}

TEST_F(EnergyTotalsTest, NeverDecreaseAndAddUpOverHours) {
  start();
  double last_j = total().energy.si();
  for (int minute = 1; minute <= 200; ++minute) {
    gpu_w_ = minute % 3 == 0 ? 0 : 150;
    loop_.advance(60s);
    const EnergyTotals::DomainTotal now = total();
    EXPECT_GE(now.energy.si(), last_j);
    last_j = now.energy.si();
  }
  const double truth_j = 134 * 60 * 150;
  EXPECT_NEAR(last_j, truth_j, 0.001 * truth_j);
  EXPECT_LT(total().unknown, 1s);
}

TEST_F(EnergyTotalsTest, HaveTheTimeOfADeviceThatFailsAsUnknown) {
  start();
  (void)total();
  loop_.advance(10s);
  status_ = ReadStatus::gone;
  loop_.advance(20s);
  status_ = ReadStatus::ok;
  loop_.advance(10s);
  const EnergyTotals::DomainTotal after = total();
  EXPECT_NEAR(after.energy.si(), 2000.0, 40.0);
  EXPECT_NEAR(after.unknown.count(), 20.0, 0.5);
}

TEST_F(EnergyTotalsTest, ReadNothingBeforeAScrapeNorLongAfterTheLast) {
  start();
  const int at_start = reads_;
  loop_.advance(3600s);
  EXPECT_EQ(reads_, at_start);
  (void)total();
  loop_.advance(EnergyTotals::kPatience + 1s);
  const int until_pause = reads_;
  EXPECT_GT(until_pause, at_start + 1000);
  loop_.advance(3600s);
  EXPECT_EQ(reads_, until_pause);
}

TEST_F(EnergyTotalsTest, KeepTheEnergyBeforeAPauseAndCountThePauseAsUnknown) {
  start();
  (void)total();
  loop_.advance(EnergyTotals::kPatience);
  loop_.advance(7200s);
  const EnergyTotals::DomainTotal resumed = total();
  const double before_j = 100.0 * Seconds(EnergyTotals::kPatience).count();
  EXPECT_NEAR(resumed.energy.si(), before_j, 0.001 * before_j);
  EXPECT_NEAR(resumed.unknown.count(), 7200.0, 1.0);
  loop_.advance(100s);
  EXPECT_NEAR(total().energy.si(), before_j + 10'000.0, 0.001 * before_j);
  EXPECT_NEAR(total().unknown.count(), 7200.0, 1.0);
}

TEST_F(EnergyTotalsTest, AskADriverThatHangsOnlyOnce) {
  const auto sensor = std::make_shared<HangingSensor>(std::make_shared<fakes::ScriptedSensor>(
      std::vector<fakes::ScriptedCounter>{channels_.front()}, clock_));
  const auto device = EnergyTotals::reader_of(sensor, clock_);
  totals_.add(device);
  (void)total();
  while (sensor->calls == 0) std::this_thread::yield();
  loop_.advance(3600s);
  EXPECT_EQ(reads_, 0);
  EXPECT_GT(total().unknown, 3599s);
  sensor->is_shut = false;
  device->stop(machine_clock().now() + 60s);
  EXPECT_EQ(sensor->calls, 1);
  EXPECT_EQ(reads_, 1);
}

}  // namespace
}  // namespace wattle::daemon
