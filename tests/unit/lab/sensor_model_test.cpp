#include "lab/sensor_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "sensors/known_sensors.hpp"

namespace wattle::lab {
namespace {

constexpr UpdateModel kJittery = {
    .mean_s = 0.9998e-3, .spread_s = 0.2705e-3, .autocorrelation = -0.41};
constexpr UpdateModel kSteady = {
    .mean_s = 1.0009e-3, .spread_s = 0.0421e-3, .autocorrelation = -0.45};
constexpr UpdateModel kExact = {.mean_s = 0.1};

/// What one would compute from recorded update times.
UpdateModel recovered(const UpdateTimes& updates) {
  constexpr std::int64_t kCount = 20'000;
  std::vector<double> intervals_s;
  for (std::int64_t k = 0; k < kCount; ++k) {
    intervals_s.push_back(updates.at_s(k + 1) - updates.at_s(k));
  }
  double mean_s = 0.0;
  for (const double interval_s : intervals_s) mean_s += interval_s / kCount;
  double variance = 0.0;
  double covariance = 0.0;
  for (std::size_t i = 0; i + 1 < intervals_s.size(); ++i) {
    variance += (intervals_s[i] - mean_s) * (intervals_s[i] - mean_s);
    covariance += (intervals_s[i] - mean_s) * (intervals_s[i + 1] - mean_s);
  }
  return {.mean_s = mean_s,
          .spread_s = std::sqrt(variance / kCount),
          .autocorrelation = covariance / variance};
}

TEST(UpdateTimes, HaveTheMeanSpreadAndAutocorrelationOfTheirModel) {
  for (const UpdateModel& model : {kJittery, kSteady}) {
    const UpdateModel found = recovered(UpdateTimes(model, 0.0, 42));
    EXPECT_NEAR(found.mean_s, model.mean_s, 1e-4 * model.mean_s);
    EXPECT_NEAR(found.spread_s, model.spread_s, 0.02 * model.spread_s);
    EXPECT_NEAR(found.autocorrelation, model.autocorrelation, 0.02);
  }
}

TEST(UpdateTimes, DoNotAccumulateTheirScatter) {
  const UpdateTimes updates(kJittery, 0.0, 42);
  for (const std::int64_t k : {1'000, 1'000'000, 1'000'000'000}) {
    EXPECT_NEAR(updates.at_s(k), static_cast<double>(k) * kJittery.mean_s, kJittery.mean_s);
  }
}

TEST(UpdateTimes, OfASteadySensorAreOnItsGrid) {
  const UpdateTimes updates(kExact, 0.03, 42);
  EXPECT_DOUBLE_EQ(updates.at_s(-2), -0.17);
  EXPECT_EQ(updates.last_before(0.02), -1);
  EXPECT_EQ(updates.last_before(0.04), 0);
}

TEST(UpdateTimes, FindTheNewestUpdateAtOrBeforeATime) {
  const UpdateTimes updates(kJittery, 0.4e-3, 42);
  for (int i = -1'000; i < 1'000; ++i) {
    const double time_s = i * 0.37e-3;
    const double found_s = updates.at_s(updates.last_before(time_s));
    EXPECT_LE(found_s, time_s);
    const auto near = static_cast<std::int64_t>(time_s / kJittery.mean_s);
    for (std::int64_t k = near - 5; k < near + 5; ++k) {
      EXPECT_TRUE(updates.at_s(k) > time_s || updates.at_s(k) <= found_s) << time_s << " " << k;
    }
  }
}

CounterModel package() {
  return {.name = "package", .domain = Domain::package(0), .update = kJittery};
}

TEST(CounterModel, CountsTheEnergyOfTheLoadInTheLongRun) {
  const Waveform load = Waveform::noise(60.0, 260.0, 0.03, 1);
  const Counter counter(package(), UpdateTimes(kJittery, 0.0, 42), 0.0, 0.0, load);
  const double counted_j = static_cast<double>(counter.raw_at(60.0)) * 0x1p-14;
  const double most_w = 260.0;
  EXPECT_NEAR(counted_j, load.energy_j(0.0, 60.0), 2e-3 * most_w);
}

TEST(CounterModel, ShowsTheEnergyUpToItsLastUpdate) {
  CounterModel model = package();
  model.update = {.mean_s = 1.0};
  const Waveform load = Waveform::constant(100.0);
  const Counter counter(model, UpdateTimes(model.update, 0.25, 42), 0.25, 75.0, load);
  EXPECT_EQ(counter.raw_at(3.2), static_cast<std::uint64_t>(275.0 * 0x1p14));
  EXPECT_EQ(counter.raw_at(3.3), static_cast<std::uint64_t>(375.0 * 0x1p14));
}

TEST(CounterModel, NeverFalls) {
  const Waveform load = Waveform::square(140.0, 260.0, 0.025);
  const Counter counter(package(), UpdateTimes(kJittery, 0.0, 42), -0.05, 100.0, load);
  std::uint64_t before = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t raw = counter.raw_at(-0.1 + i * 0.05e-3);
    EXPECT_GE(raw, before);
    before = raw;
  }
}

TEST(CounterModel, WrapsAtItsModulus) {
  CounterModel model = package();
  model.modulus = 1000;
  const Waveform load = Waveform::constant(0.0);
  const Counter counter(model, UpdateTimes(kJittery, 0.0, 42), 0.0, 1234.5 * 0x1p-14, load);
  EXPECT_EQ(counter.raw_at(1.0), 234U);
}

TEST(CounterModel, KeepsTheRegistersStepsInFinerUnits) {
  CounterModel model = package();
  model.unit_j = 0x1p-32;
  const Waveform load = Waveform::constant(0.0);
  const Counter counter(model, UpdateTimes(kJittery, 0.0, 42), 0.0, 7.5 * 0x1p-14, load);
  EXPECT_EQ(counter.raw_at(1.0), std::uint64_t{7} << 18U);
}

TEST(GaugeModel, ShowsAConstantPowerAsConstant) {
  const GaugeModel model = {
      .name = "gauge", .update = {.mean_s = 0.1, .spread_s = 1e-3}, .window_s = 0.025};
  const Waveform load = Waveform::constant(123.4567);
  const Gauge gauge(model, UpdateTimes(model.update, 0.0, 42), load);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(gauge.raw_at(i * 0.033), 123'457U);
}

TEST(GaugeModel, ShowsTheMeanOverItsWindowAtItsLastUpdate) {
  const GaugeModel model = {.name = "gauge", .update = kExact, .window_s = 0.04};
  const Waveform load = Waveform::step(100.0, 300.0).delayed(0.19);
  const Gauge gauge(model, UpdateTimes(kExact, 0.0, 42), load);
  EXPECT_EQ(gauge.raw_at(0.15), 100'000U);
  // Updated at 0.2 s: a quarter of the window is past the step.
  EXPECT_EQ(gauge.raw_at(0.25), 150'000U);
  EXPECT_EQ(gauge.raw_at(0.35), 300'000U);
}

TEST(GaugeModel, LooksSoMuchEarlierAsItLags) {
  const GaugeModel model = {.name = "gauge", .update = kExact, .window_s = 0.04, .lag_s = 0.1};
  const Waveform load = Waveform::step(100.0, 300.0).delayed(0.19);
  const Gauge gauge(model, UpdateTimes(kExact, 0.0, 42), load);
  EXPECT_EQ(gauge.raw_at(0.25), 100'000U);
  EXPECT_EQ(gauge.raw_at(0.35), 150'000U);
}

TEST(GaugeModel, IsBlindBetweenItsWindows) {
  const GaugeModel model = {.name = "gauge", .update = kExact, .window_s = 0.025};
  // High only while the sensor does not look.
  const Waveform load = Waveform::square(100.0, 400.0, 0.1);
  const Gauge gauge(model, UpdateTimes(kExact, 0.0, 42), load);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(gauge.raw_at(0.01 + i * 0.1), 100'000U);
}

TEST(GaugeModel, ReportsItsCoverage) {
  EXPECT_DOUBLE_EQ(channel_of(GaugeModel{.name = "", .update = kExact, .window_s = 0.025})
                       .gauge.coverage.value(),
                   0.25);
  EXPECT_DOUBLE_EQ(
      channel_of(GaugeModel{.name = "", .update = kExact, .window_s = 0.1}).gauge.coverage.value(),
      1.0);
}

TEST(GaugeModel, IsAnAverageOfAnUnknownFilterWhereItsWindowIsLongerThanAnUpdate) {
  const Channel channel = channel_of(GaugeModel{.name = "", .update = kExact, .window_s = 1.0});
  EXPECT_EQ(channel.metric, Metric::power_average);
  EXPECT_EQ(channel.gauge.window, std::nullopt);
  EXPECT_EQ(channel.gauge.longest_lag, kAverageLongestLag);
}

CounterModel fed_gpu_counter() {
  return {.name = "counter",
          .domain = Domain::nvidia_gpu(0),
          .update = kExact,
          .tick_j = 1e-3,
          .unit_j = 1e-3};
}

TEST(FedCounter, CountsTheTrueEnergyWhereItsGaugeSeesAllOfIt) {
  const GaugeModel model = {.name = "gauge", .update = kExact, .window_s = 0.1};
  const Waveform load = Waveform::noise(200.0, 400.0, 0.03, 1);
  FedCounter counter(fed_gpu_counter(), Gauge(model, UpdateTimes(kExact, 0.0, 42), load), 0.05);
  const auto counted_mj = static_cast<double>(counter.raw_at(10.05) - counter.raw_at(0.05));
  EXPECT_NEAR(counted_mj / 1e3, load.energy_j(0.0, 10.0), 0.01);
}

TEST(FedCounter, IsAsBlindAsItsGauge) {
  const GaugeModel model = {.name = "gauge", .update = kExact, .window_s = 0.025};
  const Waveform load = Waveform::square(100.0, 400.0, 0.1);
  FedCounter counter(fed_gpu_counter(), Gauge(model, UpdateTimes(kExact, 0.0, 42), load), 0.05);
  const auto counted_mj = static_cast<double>(counter.raw_at(10.05) - counter.raw_at(0.05));
  EXPECT_NEAR(counted_mj / 1e3, 1000.0, 0.01);
}

TEST(FedCounter, ShowsTheSameWhenAskedForAnEarlierTime) {
  const GaugeModel model = {.name = "gauge", .update = kExact, .window_s = 0.1};
  const Waveform load = Waveform::constant(100.0);
  FedCounter counter(fed_gpu_counter(), Gauge(model, UpdateTimes(kExact, 0.0, 42), load), 0.05);
  const std::uint64_t early = counter.raw_at(1.0);
  static_cast<void>(counter.raw_at(9.0));
  EXPECT_EQ(counter.raw_at(1.0), early);
}

TEST(GaugeModel, FollowsThePowerWithItsLag) {
  const GaugeModel model = {.name = "gauge", .update = kExact, .time_constant_s = 0.05};
  const Waveform load = Waveform::step(100.0, 300.0).delayed(0.15);
  const Gauge gauge(model, UpdateTimes(kExact, 0.0, 42), load);
  EXPECT_EQ(gauge.raw_at(0.15), 100'000U);
  EXPECT_EQ(gauge.raw_at(0.25), 226'424U) << "300 - 200 / e";
  EXPECT_EQ(gauge.raw_at(5.0), 300'000U);
  EXPECT_EQ(gauge.raw_at(0.25), 226'424U) << "asked for an earlier time";
}

TEST(GaugeModel, FreezesWhenTheLoadHasEnded) {
  const GaugeModel model = {.name = "gauge",
                            .update = kExact,
                            .window_s = 1.0,
                            .frozen_updates = 10,
                            .frozen_below_w = 150.0};
  const Waveform load = Waveform::step(400.0, 60.0).delayed(2.0);
  const Gauge gauge(model, UpdateTimes(kExact, 0.0, 42), load);
  EXPECT_EQ(gauge.raw_at(1.95), 400'000U);
  EXPECT_EQ(gauge.raw_at(2.15), 366'000U) << "it sees the end";
  const std::uint64_t frozen = gauge.raw_at(2.65);
  EXPECT_GT(frozen, 200'000U);
  EXPECT_EQ(gauge.raw_at(2.95), frozen);
  EXPECT_EQ(gauge.raw_at(3.05), 60'000U);
}

TEST(GaugeModel, IsWhatWattleKnowsOfIt) {
  GaugeModel model = {.name = "", .update = {.mean_s = 0.10115}, .listed_update_s = 0.1};
  EXPECT_EQ(channel_of(model).update.mean, std::chrono::milliseconds(100));
  model.is_listed = false;
  EXPECT_FALSE(channel_of(model).update.known());
  EXPECT_FALSE(channel_of(model).gauge.window.has_value());
  const GaugeModel lags = {.name = "", .update = kExact, .time_constant_s = 0.055};
  EXPECT_EQ(channel_of(lags).gauge.time_constant, std::chrono::milliseconds(55));
  EXPECT_FALSE(channel_of(lags).gauge.window.has_value());
}

}  // namespace
}  // namespace wattle::lab
