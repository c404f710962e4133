#include "telemetry/device_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace wattle::daemon {
namespace {

using otlp::OtlpKind;
using otlp::OtlpMetric;
using testing::IsEmpty;
using testing::SizeIs;

constexpr otlp::UnixNs kPushedAt = 1'700'000'000'000'000'000;

OtlpMetric pushed(const std::vector<OtlpMetric>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &OtlpMetric::name);
  return found != all.end() ? *found : OtlpMetric{};
}

std::string attribute_text(const otlp::OtlpPoint& point, const std::string& key) {
  const auto found = std::ranges::find(point.attributes, key, &otlp::OtlpAttribute::key);
  return found != point.attributes.end() ? std::get<std::string>(found->value) : "";
}

DaemonMetrics metrics_with(DomainMetrics domain) {
  return {.version = "1",
          .started_unix_s = 1.6e9,
          .domains = {std::move(domain)},
          .refused = {},
          .dropped = {}};
}

TEST(DeviceMetrics, ACounterStartsWhereItsEnergyWas0) {
  CounterStarts starts;
  const auto all = otlp_metrics_of(metrics_with({.domain = "package_0",
                                                 .device = "cpu:0",
                                                 .vendor = "intel",
                                                 .source = "perf",
                                                 .energy_j = 12.5,
                                                 .created_unix_s = 1.65e9}),
                                   kPushedAt, starts);
  const OtlpMetric energy = pushed(all, "hw.energy");
  EXPECT_EQ(energy.unit, "J");
  EXPECT_EQ(energy.kind, OtlpKind::counter);
  ASSERT_THAT(energy.points, SizeIs(1));
  EXPECT_EQ(std::get<double>(energy.points[0].value), 12.5);
  EXPECT_EQ(energy.points[0].since, 1'650'000'000'000'000'000U);
  EXPECT_EQ(energy.points[0].at, kPushedAt);
  EXPECT_EQ(attribute_text(energy.points[0], "hw.id"), "package_0");
  EXPECT_EQ(attribute_text(energy.points[0], "hw.type"), "cpu");
}

TEST(DeviceMetrics, ARawCounterStartsAtItsFirstPointAndAgainWhereItFalls) {
  CounterStarts starts;
  const auto push = [&](double joules, otlp::UnixNs at) {
    const auto all =
        otlp_metrics_of(metrics_with({.domain = "nvidia_gpu_0", .energy_j = joules}), at, starts);
    return pushed(all, "hw.energy").points.at(0);
  };
  EXPECT_EQ(std::get<double>(push(1e6, kPushedAt).value), 0.0);
  EXPECT_EQ(std::get<double>(push(1e6 + 50.0, kPushedAt + 10).value), 50.0);
  EXPECT_EQ(push(1e6 + 60.0, kPushedAt + 20).since, kPushedAt);
  const otlp::OtlpPoint fallen = push(7.0, kPushedAt + 30);
  EXPECT_EQ(std::get<double>(fallen.value), 7.0);
  EXPECT_EQ(fallen.since, kPushedAt + 20);
  EXPECT_EQ(std::get<double>(push(9.0, kPushedAt + 40).value), 9.0);
}

TEST(DeviceMetrics, WhatIsUnknownIsNotThere) {
  CounterStarts starts;
  const auto all =
      otlp_metrics_of(metrics_with({.domain = "amd_gpu_1",
                                    .reason = "the device is gone",
                                    .power_w = std::numeric_limits<double>::quiet_NaN()}),
                      kPushedAt, starts);
  for (const char* const name : {"hw.energy", "hw.power", "hw.gpu.utilization", "hw.temperature"}) {
    EXPECT_THAT(pushed(all, name).points, IsEmpty()) << name;
  }
  const OtlpMetric up = pushed(all, "wattle.sensor.up");
  EXPECT_EQ(std::get<std::int64_t>(up.points.at(0).value), 0);
  EXPECT_EQ(attribute_text(up.points.at(0), "wattle.reason"), "the device is gone");
}

TEST(DeviceMetrics, MemoryIsWholeBytes) {
  CounterStarts starts;
  const auto all = otlp_metrics_of(
      metrics_with({.domain = "nvidia_gpu_0", .memory_used_bytes = 6e10}), kPushedAt, starts);
  EXPECT_EQ(std::get<std::int64_t>(pushed(all, "hw.gpu.memory.usage").points.at(0).value),
            60'000'000'000);
}

TEST(DeviceMetrics, NamesOfDriversCannotBreakATerminal) {
  CounterStarts starts;
  const auto all = otlp_metrics_of(
      metrics_with({.domain = "no domain\x1b[2J", .info = {.model = "x\ny"}, .power_w = 1.0}),
      kPushedAt, starts);
  EXPECT_EQ(attribute_text(pushed(all, "hw.power").points.at(0), "hw.id"), "no domain\\x1b[2J");
  EXPECT_EQ(attribute_text(pushed(all, "hw.power").points.at(0), "hw.type"), "sensor");
  EXPECT_EQ(attribute_text(pushed(all, "hw.power").points.at(0), "hw.model"), "x\\x0ay");
}

TEST(DeviceMetrics, TagsOfUnitsAreBounded) {
  CounterStarts starts;
  DaemonMetrics metrics = metrics_with({.domain = "package_0"});
  metrics.units.emplace();
  for (int i = 0; i < 100; ++i) {
    metrics.units->report.tags.push_back({.tag = "t" + std::to_string(i), .count = 1});
  }
  const auto all = otlp_metrics_of(metrics, kPushedAt, starts);
  EXPECT_THAT(pushed(all, "wattle.unit.count").points, SizeIs(64));
}

}  // namespace
}  // namespace wattle::daemon
