// The real NVIDIA GPUs of this machine. What docs/sensors/nvml.md records of a model and driver is
// printed: update periods, the counter's step, the cost of each call.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "sampling/update_observer.hpp"
#include "sensors/nvml/nvml.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr Polling kFiveSeconds{.length = 5s};

class NvmlHardware : public testing::Test {
 protected:
  void SetUp() override {
    found_ = nvml::probe(System::from_environment(), machine_clock(), {});
    if (!found_.sensors.empty()) return;
    std::string reasons;
    for (const SensorRefusal& refusal : found_.refused) {
      reasons += refusal.subject + ": " + refusal.reason + "; ";
    }
    GTEST_SKIP() << "no GPU can be read here: " << reasons;
  }

  /// Calls `check(sensor, i)` for each channel i of that metric that is the GPU's own.
  template <class Check>
  void for_each(Metric metric, Check check) {
    for (const auto& sensor : found_.sensors) {
      for (std::size_t i = 0; i < sensor->channels().size(); ++i) {
        const Channel& channel = sensor->channels()[i];
        if (channel.metric != metric || channel.scope != Scope::device) continue;
        SCOPED_TRACE(channel.domain.name() + " " + sensor->device()->model);
        check(*sensor, i);
      }
    }
  }

  /// Prints a line that belongs into the page, and keeps it in the test's record.
  static void record(const Sensor& sensor, std::size_t i, const std::string& what,
                     const std::string& value) {
    const Channel& channel = sensor.channels()[i];
    const DeviceInfo& device = *sensor.device();
    fmt::print("{} (driver {}), {} {}: {}\n", device.model, device.driver,
               to_string(channel.metric), what, value);
    RecordProperty(fmt::format("{}_{}_{}", channel.domain.name(), to_string(channel.metric), what),
                   value);
  }

  Survey found_;
};

Reading read_one(Sensor& sensor, std::size_t i) {
  std::vector<Reading> readings(sensor.channels().size());
  sensor.read_some(ChannelSet().set(i), readings);
  return readings[i];
}

double value(const Sensor& sensor, std::size_t i, const Reading& reading) {
  return static_cast<double>(reading.raw) * sensor.channels()[i].scale();
}

std::string period_text(const Observation& seen) {
  const auto text = [](std::chrono::nanoseconds time) {
    return fmt::format("{:.5f}", Seconds(time).count());
  };
  if (seen.at_most) {
    return fmt::format("at most {}, {}", text(*seen.at_most), to_string(seen.doubt));
  }
  if (!seen.interval.known()) return std::string(to_string(seen.doubt));
  return fmt::format("{}, spread {}, 99 % within {}", text(seen.interval.mean),
                     text(seen.interval.spread), text(seen.interval.p99));
}

Observation watch(Sensor& sensor, std::size_t i, Polling polling) {
  return observe(sensor, ChannelSet().set(i), polling, machine_clock())[i];
}

TEST_F(NvmlHardware, EveryChannelThatWasFoundCanBeRead) {
  for (const auto& sensor : found_.sensors) {
    std::vector<Reading> readings(sensor->channels().size());
    sensor->read(readings);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      EXPECT_EQ(readings[i].status, ReadStatus::ok) << sensor->channels()[i].place;
    }
    EXPECT_FALSE(sensor->device()->id.empty());
    EXPECT_FALSE(sensor->device()->pci_address.empty());
  }
}

TEST_F(NvmlHardware, ValuesArePlausible) {
  const auto expect_between = [&](Metric metric, double low, double high) {
    for_each(metric, [&](Sensor& sensor, std::size_t i) {
      const double seen = value(sensor, i, read_one(sensor, i));
      EXPECT_GE(seen, low) << to_string(metric);
      EXPECT_LE(seen, high) << to_string(metric);
    });
  };
  expect_between(Metric::power_instant, 0.5, 2500.0);
  expect_between(Metric::power_average, 0.5, 2500.0);
  expect_between(Metric::power_limit, 5.0, 2500.0);
  expect_between(Metric::utilization, 0.0, 100.0);
  expect_between(Metric::memory_utilization, 0.0, 100.0);
  expect_between(Metric::temperature, 5.0, 120.0);
  expect_between(Metric::clock_sm, 50e6, 10e9);
  expect_between(Metric::memory_total, 1e8, 1e13);
}

TEST_F(NvmlHardware, CountersOnlyRiseAtLeastTwiceASecond) {
  for_each(Metric::energy, [](Sensor& sensor, std::size_t i) {
    const Observation seen = watch(sensor, i, kFiveSeconds);
    record(sensor, i, "update_s", period_text(seen));
    record(sensor, i, "step_mj", fmt::format("{}", seen.median_step));
    EXPECT_EQ(seen.monotonic, true);
    ASSERT_TRUE(seen.interval.known() || seen.at_most) << to_string(seen.doubt);
    EXPECT_LT(seen.at_most.value_or(seen.interval.mean), 500ms);
  });
}

TEST_F(NvmlHardware, PowerIsRenewed) {
  for (const Metric metric : {Metric::power_instant, Metric::power_average}) {
    for_each(metric, [](Sensor& sensor, std::size_t i) {
      const Observation seen = watch(sensor, i, kFiveSeconds);
      record(sensor, i, "update_s", period_text(seen));
      // An idle GPU can show the same value for long.
      EXPECT_NE(seen.doubt, PeriodDoubt::no_reading);
    });
  }
}

/// Over five seconds the counter's own steps hardly matter any more.
TEST_F(NvmlHardware, CounterAndPowerAgreeWithinAThird) {
  for_each(Metric::energy, [](Sensor& sensor, std::size_t energy) {
    std::size_t power = 0;
    const auto channels = sensor.channels();
    while (power < channels.size() && channels[power].metric != Metric::power_instant) ++power;
    if (power == channels.size()) return;
    const Reading begin = read_one(sensor, energy);
    double sum_w = 0.0;
    int count = 0;
    Reading last = begin;
    while (last.at - begin.at < std::chrono::seconds(5)) {
      last = read_one(sensor, power);
      sum_w += value(sensor, power, last);
      ++count;
    }
    const Reading end = read_one(sensor, energy);
    const double counted_w = (value(sensor, energy, end) - value(sensor, energy, begin)) /
                             Seconds(end.at - begin.at).count();
    const double mean_w = sum_w / count;
    record(sensor, energy, "mean_w", fmt::format("{:.2f}, by power {:.2f}", counted_w, mean_w));
    EXPECT_NEAR(counted_w, mean_w, mean_w / 3.0);
  });
}

TEST_F(NvmlHardware, NoCallTakesLong) {
  for (const auto& sensor : found_.sensors) {
    for (std::size_t i = 0; i < sensor->channels().size(); ++i) {
      const Observation seen = watch(*sensor, i, {.length = 250ms, .pause = 5ms});
      record(*sensor, i, "call_us",
             fmt::format("{:.1f}, at most {:.1f}", Seconds(seen.call).count() * 1e6,
                         Seconds(seen.longest_call).count() * 1e6));
      EXPECT_GT(seen.readings, 0U);
      EXPECT_LT(seen.call, 100ms);
    }
  }
}

}  // namespace
}  // namespace wattle
