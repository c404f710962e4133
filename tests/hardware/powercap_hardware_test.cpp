// The real energy counters of this machine's processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/clock.hpp"
#include "fakes/one_window.hpp"
#include "sensors/powercap/powercap.hpp"

namespace wattle {
namespace {

class PowercapHardware : public testing::Test {
 protected:
  void SetUp() override {
    found_ = powercap::probe(System{}, machine_clock());
    if (!found_.sensors.empty()) return;
    std::string reasons;
    for (const SensorRefusal& refusal : found_.refused) {
      reasons += refusal.subject + ": " + refusal.reason + "; ";
    }
    GTEST_SKIP() << "no counter can be read here: " << reasons;
  }

  Survey found_;
};

TEST_F(PowercapHardware, EveryRangeNamesAUnitThatIsAPowerOfTwo) {
  for (const auto& sensor : found_.sensors) {
    for (const Channel& channel : sensor->channels()) {
      int exponent = 0;
      EXPECT_EQ(std::frexp(channel.counter.tick.si(), &exponent), 0.5)
          << channel.place << ": its max_energy_range_uj is not in the table of units";
    }
  }
}

TEST_F(PowercapHardware, PackagesDrawAPlausiblePowerOverASecond) {
  fakes::OneWindow recorder(std::move(found_.sensors), machine_clock());
  recorder.read(false);
  const TimePoint begin = machine_clock().now();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const TimePoint end = machine_clock().now();
  recorder.read(true);
  bool any_package = false;
  const std::vector<DomainFigure> results = recorder.figures(begin, end);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DomainFigure& result = results[i];
    const EnergyFigure& figure = result.figure;
    SCOPED_TRACE(result.domain.name());
    ASSERT_TRUE(figure.energy.has_value());
    EXPECT_EQ(figure.unknown.count(), 0.0);
    RecordProperty(result.domain.name() + "_w", std::to_string(figure.mean->si()));
    if (result.domain.kind() != DomainKind::package) continue;
    any_package = true;
    EXPECT_GT(figure.mean->si(), 0.1);
    EXPECT_LT(*figure.mean, recorder.readings().channel(i).counter.max_power);
  }
  EXPECT_TRUE(any_package);
}

TEST_F(PowercapHardware, CountersAreRenewedAboutEveryMillisecond) {
  Sensor& sensor = *found_.sensors.front();
  std::vector<Reading> readings(sensor.channels().size());
  sensor.read(readings);
  std::uint64_t last = readings[0].raw;
  const TimePoint begin = machine_clock().now();
  int updates = 0;
  while (machine_clock().now() - begin < std::chrono::seconds(1)) {
    sensor.read(readings);
    if (readings[0].raw != last) ++updates;
    last = readings[0].raw;
  }
  RecordProperty("updates_in_one_second", updates);
  // Fewer where this thread was kept from reading.
  EXPECT_GT(updates, 100);
  EXPECT_LT(updates, 1100);
}

}  // namespace
}  // namespace wattle
