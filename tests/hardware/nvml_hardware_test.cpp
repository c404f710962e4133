// The real NVIDIA GPUs of this machine. What docs/sensors/nvml.md records of a model and driver is
// printed: update periods, the counter's step, the cost of each call.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/clock.hpp"
#include "sensors/nvml/nvml.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

class NvmlHardware : public testing::Test {
 protected:
  void SetUp() override {
    found_ = nvml::probe(System::from_environment(), machine_clock(), {});
    if (!found_.sensors.empty()) return;
    std::string reasons;
    for (const Refusal& refusal : found_.refused) {
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

/// The changes of a channel's value while it is read again and again.
struct Changes {
  std::vector<Seconds> periods;      ///< from each change to the next
  std::vector<std::uint64_t> steps;  ///< in raw integers, up or down
};

Changes watch(Sensor& sensor, std::size_t i, std::chrono::seconds length) {
  Changes changes;
  Reading last = read_one(sensor, i);
  TimePoint changed_at = last.at;
  bool is_first = true;  // the begin of the watch is no change
  const TimePoint end = last.at + length;
  while (last.at < end) {
    const Reading reading = read_one(sensor, i);
    if (reading.raw != last.raw) {
      if (!is_first) changes.periods.emplace_back(reading.at - changed_at);
      changes.steps.push_back(std::max(reading.raw, last.raw) - std::min(reading.raw, last.raw));
      changed_at = reading.at;
      is_first = false;
    }
    last = reading;
  }
  return changes;
}

template <class T>
T median(std::vector<T> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
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

TEST_F(NvmlHardware, CountersOnlyRise) {
  for_each(Metric::energy, [](Sensor& sensor, std::size_t i) {
    std::uint64_t last = 0;
    for (int n = 0; n < 200; ++n) {
      const Reading reading = read_one(sensor, i);
      ASSERT_GE(reading.raw, last);
      last = reading.raw;
    }
  });
}

TEST_F(NvmlHardware, CountersAreRenewedAtLeastTwiceASecond) {
  for_each(Metric::energy, [](Sensor& sensor, std::size_t i) {
    const Changes changes = watch(sensor, i, std::chrono::seconds(5));
    ASSERT_FALSE(changes.periods.empty());
    const Seconds period = median(changes.periods);
    record(sensor, i, "update_s", fmt::format("{:.4f}", period.count()));
    record(sensor, i, "step_mj", fmt::format("{}", median(changes.steps)));
    EXPECT_LT(period.count(), 0.5);
  });
}

TEST_F(NvmlHardware, PowerIsRenewed) {
  for (const Metric metric : {Metric::power_instant, Metric::power_average}) {
    for_each(metric, [](Sensor& sensor, std::size_t i) {
      const Changes changes = watch(sensor, i, std::chrono::seconds(5));
      // An idle GPU can show the same value for long.
      record(sensor, i, "update_s",
             changes.periods.empty() ? "no change in 5 s"
                                     : fmt::format("{:.4f}", median(changes.periods).count()));
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
  constexpr int kCalls = 50;
  for (const auto& sensor : found_.sensors) {
    for (std::size_t i = 0; i < sensor->channels().size(); ++i) {
      std::vector<nanoseconds> costs;
      for (int n = 0; n < kCalls; ++n) costs.push_back(2 * read_one(*sensor, i).half_width);
      const double median_us = static_cast<double>(median(costs).count()) * 1e-3;
      const double max_us = static_cast<double>(std::ranges::max(costs).count()) * 1e-3;
      record(*sensor, i, "call_us", fmt::format("{:.1f}, at most {:.1f}", median_us, max_us));
      EXPECT_LT(median_us, 100e3);
    }
  }
}

}  // namespace
}  // namespace wattle
