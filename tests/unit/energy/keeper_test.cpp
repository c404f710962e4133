// The thread that reads counters between the records: over the machine's own clock.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "energy/metered_domains.hpp"
#include "fakes/scripted_sensor.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

/// Counts how often it is read.
struct Counted {
  std::atomic<int> reads{0};

  /// Its counter wraps after 20 ms at the power that it could have.
  std::shared_ptr<detail::MeteredDomains> domains() {
    Channel channel = fakes::counter_channel(Domain::package(0));
    channel.counter.modulus = 1'000'000;
    channel.counter.max_power = Watts(1e6 / 16384.0 / 0.020);
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back({channel, [this](TimePoint) {
                          ++reads;
                          return fakes::Shown{.raw = 7};
                        }});
    detail::MeterParts parts;
    parts.sensors.push_back(
        std::make_unique<fakes::ScriptedSensor>(std::move(counters), machine_clock()));
    parts.domains.push_back(Domain::package(0));
    return std::make_shared<detail::MeteredDomains>(std::move(parts), machine_clock());
  }
  /// False where it was not read so often in ten seconds.
  [[nodiscard]] bool is_read(int times) const {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (reads < times && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    return reads >= times;
  }
};

TEST(Keeper, ReadsWhileNobodyRecords) {
  Counted counter;
  const auto columns = counter.domains();
  EXPECT_TRUE(counter.is_read(3));
}

TEST(Keeper, ReadsForAReaderToo) {
  Counted counter;
  const EnergyReader reader = detail::EnergyMeterMaker::reader(counter.domains());
  EXPECT_TRUE(counter.is_read(4));
}

TEST(Keeper, EndsWithTheLastThatUsesIt) {
  Counted counter;
  {
    const EnergyMeter meter = detail::EnergyMeterMaker::meter(counter.domains());
    const EnergyMeter another = meter.another();
    EXPECT_TRUE(counter.is_read(1));
  }
  const int reads = counter.reads;
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(counter.reads, reads);
}

TEST(Keeper, LetsRecordsComeInBetween) {
  Counted counter;
  EnergyMeter meter = detail::EnergyMeterMaker::meter(counter.domains());
  meter.start();
  for (int i = 0; i < 10'000; ++i) meter.record();
  EXPECT_TRUE(counter.is_read(10'003));
  meter.stop();
  EXPECT_EQ(meter.trace().size(), 10'001U);
}

}  // namespace
}  // namespace wattle
