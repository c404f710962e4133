#include "api/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "report/golden.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing_support::expect_golden;

DaemonMetrics two_sockets_and_a_gpu() {
  DaemonMetrics metrics{.version = "0.1.0",
                        .started_unix_s = 1'763'690'000.5,
                        .own = {.cpu_s = 12.25, .resident_bytes = 8'388'608}};
  for (const char* const index : {"0", "1"}) {
    metrics.domains.push_back({.domain = std::string("package_") + index,
                               .device = std::string("cpu:") + index,
                               .vendor = "intel",
                               .source = "powercap",
                               .up = true,
                               .energy_j = 123456.789012,
                               .created_unix_s = 1'763'690'001,
                               .power_w = 85.25,
                               .power_limit_w = 270,
                               .last_success_unix_s = 1'763'690'100.125,
                               .resets = 0});
  }
  metrics.domains.push_back({.domain = "core_0",
                             .device = "cpu:0",
                             .vendor = "intel",
                             .source = "powercap",
                             .additive = false,
                             .up = true,
                             .energy_j = 0,
                             .created_unix_s = 1'763'690'001,
                             .power_w = 0,
                             .last_success_unix_s = 1'763'690'100.125,
                             .resets = 2});
  metrics.domains.push_back({.domain = "nvidia_gpu_0",
                             .device = "0000:01:00.0",
                             .vendor = "nvidia",
                             .source = "nvml",
                             .up = true,
                             .energy_j = 5000.001,
                             .created_unix_s = 1'763'690'002,
                             .power_w = 75,
                             .power_limit_w = 300,
                             .utilization_ratio = 0.42,
                             .memory_used_bytes = 42'949'672'960,
                             .temperature_celsius = 61,
                             .last_success_unix_s = 1'763'690'100});
  metrics.domains.back().info = {
      .model = "NVIDIA H100", .uuid = "GPU-1", .pci_address = "0000:01:00.0", .driver = "550.54"};
  metrics.domains.push_back({.domain = "hwmon_psu",
                             .device = "i2c-1",
                             .source = "hwmon",
                             .additive = false,
                             .up = true,
                             .energy_source = "integrated",
                             .energy_j = 2500.5,
                             .created_unix_s = 1'763'690'002,
                             .energy_uncertainty_j = 12.5,
                             .energy_unknown_s = 0.25,
                             .coverage_ratio = 0.25,
                             .power_w = 250,
                             .memory_total_bytes = 1024,
                             .clock_hz = 1.5e9,
                             .memory_clock_hz = 2.6e9});
  metrics.domains.push_back({.domain = "dram_0",
                             .device = "cpu:0",
                             .source = "powercap",
                             .reason = "its counter does not move"});
  metrics.domains.push_back({.domain = "nvidia_gpu_1", .device = "0000:02:00.0", .source = "nvml"});
  metrics.refused = {{"nvml", "0000:02:00.0", "the GPU is lost \"off the bus\"\n"},
                     {"perf", "", "permission denied: /sys/bus/event_source"},
                     {"perf", "", "permission denied: /sys/bus/event_source"}};
  metrics.dropped = {{"slow_reader", 17}};
  metrics.turned_away = {{"full", 3}, {"client", 0}};
  return metrics;
}

std::string text_of(const DaemonMetrics& metrics, MetricsFormat format) {
  return metrics_text(families_of(metrics), format);
}

TEST(Metrics, InPrometheusText) {
  expect_golden("metrics.prom", text_of(two_sockets_and_a_gpu(), MetricsFormat::prometheus));
}

TEST(Metrics, InOpenMetrics) {
  expect_golden("metrics.openmetrics",
                text_of(two_sockets_and_a_gpu(), MetricsFormat::open_metrics));
}

TEST(Metrics, HaveAHistogramOfEachTag) {
  UnitTag tag{.tag = "a\x1b", .count = 9, .unknown = 2, .sum = Joules(12.5), .work = 40.0};
  // Up to 0.5, 1 and 2 J.
  tag.distribution = {.none = 1, .from = Joules(0.25), .ratio = 2.0, .counts = {2, 5, 1}};
  UnitTag phase = tag;
  phase.phase = "decode";
  DaemonMetrics metrics{.version = "1", .domains = {}, .refused = {}, .dropped = {}};
  metrics.units = UnitMetrics{.report = {.tags = {tag, phase}, .running = 3}, .since_unix_s = 5.0};
  const std::string text = metrics_text(families_of(metrics), MetricsFormat::prometheus);
  const std::string bucket = R"(wattle_unit_energy_joules_bucket{tag="a\\x1b",le=)";
  EXPECT_THAT(text, HasSubstr(bucket + "\"0.25\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"0.5\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"1.0\"} 8\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"2.0\"} 9\n"));
  EXPECT_THAT(text, HasSubstr(bucket + "\"+Inf\"} 9\n"));
  EXPECT_THAT(text, HasSubstr(R"(wattle_unit_energy_joules_sum{tag="a\\x1b"} 12.5)"));
  EXPECT_THAT(text, HasSubstr(R"(wattle_units_unknown_total{tag="a\\x1b"} 2)"));
  EXPECT_THAT(text, HasSubstr("wattle_units_running 3\n"));
  EXPECT_EQ(text.find("decode"), std::string::npos);
}

/// The native histogram of a tag with this distribution.
NativeHistogram native_with(const UnitDistribution& distribution) {
  DaemonMetrics metrics{.version = "1", .domains = {}, .refused = {}, .dropped = {}};
  metrics.units =
      UnitMetrics{.report = {.tags = {{.tag = "a", .count = 9, .distribution = distribution}}}};
  for (const MetricFamily& family : families_of(metrics)) {
    if (family.name == "wattle_unit_energy_joules") return *family.samples.at(0).native;
  }
  return {};
}

TEST(Metrics, HaveTheBucketsOfADistributionInANativeHistogram) {
  // Above 0.25, at most 0.5 J: at most 2^-1.
  NativeHistogram native =
      native_with({.none = 1, .from = Joules(0.25), .ratio = 2.0, .counts = {2, 5, 1}});
  EXPECT_EQ(native.schema, 0);
  EXPECT_EQ(native.first, -1);
  EXPECT_EQ(native.none, 1U);
  EXPECT_THAT(native.counts, testing::ElementsAre(2, 5, 1));
  for (int schema = -1; schema <= 5; ++schema) {
    const double octaves = std::exp2(-schema);
    for (const int place : {-600, -1, 0, 1, 700}) {
      const double from = std::exp2(place * octaves);
      if (!(from > 1e-13 && from < 1e15)) continue;
      native = native_with({.from = Joules(from), .ratio = std::exp2(octaves), .counts = {1}});
      EXPECT_EQ(native.schema, schema);
      EXPECT_EQ(native.first, place + 1);
    }
  }
  native = native_with({.none = 3});
  EXPECT_EQ(native.none, 3U);
  EXPECT_TRUE(native.counts.empty());
}

TEST(Metrics, HaveAFewOfManyTags) {
  UnitsReport report;
  for (int i = 0; i < 256; ++i) {
    report.tags.push_back({.tag = std::to_string(i), .count = 1, .sum = Joules(1.0)});
  }
  DaemonMetrics metrics{.version = "1", .domains = {}, .refused = {}, .dropped = {}};
  metrics.units = UnitMetrics{.report = report};
  const std::string text = metrics_text(families_of(metrics), MetricsFormat::prometheus);
  EXPECT_THAT(text, HasSubstr("wattle_unit_energy_joules_sum{tag=\"63\"}"));
  EXPECT_EQ(text.find("tag=\"64\""), std::string::npos);
}

// A duplicate invalidates a scrape, and tags that are alike at first are not the same.
TEST(Metrics, HaveEachLabelOfTagsOnce) {
  const std::string alike(220, 'x');
  UnitsReport report;
  for (const std::string& tag :
       {alike + "1", alike + "2", std::string("a\x1b"), std::string("a\\x1b")}) {
    report.tags.push_back({.tag = tag, .count = 1, .sum = Joules(1.0)});
  }
  DaemonMetrics metrics{.version = "1", .domains = {}, .refused = {}, .dropped = {}};
  metrics.units = UnitMetrics{.report = report};
  const std::string text = metrics_text(families_of(metrics), MetricsFormat::prometheus);
  std::set<std::string> series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_THAT(text, HasSubstr(alike + "2\""));
}

TEST(Metrics, OfAMachineWithoutSensorsReportTheVersion) {
  EXPECT_EQ(text_of({.version = "1"}, MetricsFormat::prometheus),
            "# HELP wattle_build_info Version of wattled.\n"
            "# TYPE wattle_build_info gauge\n"
            "wattle_build_info{version=\"1\"} 1\n");
}

TEST(Metrics, EscapeForeignText) {
  DaemonMetrics metrics;
  metrics.domains = {{.domain = "a\x1B[0m\n"}};
  EXPECT_NE(text_of(metrics, MetricsFormat::prometheus).find(R"(domain="a\\x1b[0m\\x0a")"),
            std::string::npos);
}

class PowerSinceScrapeTest : public testing::Test {
 protected:
  /// A scrape at this time after the first one.
  std::optional<double> at(int ms, double energy_j, std::uint64_t losses = 0) {
    return power_.at(kStart + milliseconds(ms), energy_j, losses);
  }

 private:
  static constexpr TimePoint kStart{std::chrono::hours(1)};
  PowerSinceScrape power_;
};

TEST_F(PowerSinceScrapeTest, IsUnknownAtTheFirstScrape) { EXPECT_EQ(at(0, 1000), std::nullopt); }

TEST_F(PowerSinceScrapeTest, IsUnknownInTheFirstSecond) {
  (void)at(0, 0);
  EXPECT_EQ(at(999, 50), std::nullopt);
  EXPECT_EQ(at(1000, 50), 50.0);
}

TEST_F(PowerSinceScrapeTest, IsTheMeanSinceThePreviousScrape) {
  (void)at(0, 0);
  EXPECT_EQ(at(10'000, 1000), 100.0);
  EXPECT_EQ(at(15'000, 1250), 50.0);
}

TEST_F(PowerSinceScrapeTest, IsOfASecondAtLeastHoweverOftenItIsAskedFor) {
  (void)at(0, 0);
  EXPECT_EQ(at(2000, 200), 100.0);
  EXPECT_EQ(at(2100, 210), 100.0);        // since 0: 2000 is too near
  EXPECT_EQ(at(2500, 500), 200.0);        // since 0 still
  EXPECT_EQ(at(3000, 400 + 200), 400.0);  // since 2000
}

TEST_F(PowerSinceScrapeTest, StartsAgainWhereTheCounterRestarted) {
  (void)at(0, 1000);
  EXPECT_EQ(at(1000, 1050), 50.0);
  EXPECT_EQ(at(2000, 1050, 1), std::nullopt);
  EXPECT_EQ(at(4000, 1070, 1), 10.0);
}

TEST_F(PowerSinceScrapeTest, StartsAgainWhereTheCounterFell) {
  (void)at(0, 1000);
  EXPECT_EQ(at(1000, 1050), 50.0);
  EXPECT_EQ(at(2000, 20), std::nullopt);
  EXPECT_EQ(at(4000, 40), 10.0);
}

TEST_F(PowerSinceScrapeTest, MayBeZero) {
  (void)at(0, 5);
  EXPECT_EQ(at(1000, 5), 0.0);
}

/// Cut names of two tags could be the same, and would then be one series with two values.
TEST(ServedTags, HaveWholeNamesThatDiffer) {
  UnitsReport report;
  const std::string long_name(300, 'x');
  report.tags = {{.tag = long_name + "1", .count = 1},
                 {.tag = long_name + "1", .phase = "decode", .count = 9},
                 {.tag = long_name + "2", .count = 2},
                 {.tag = "a\x1b", .count = 3},
                 {.tag = "a\\x1b", .count = 4}};
  std::vector<std::string> names;
  for (const ServedTag& served : served_tags(report)) names.push_back(served.name);
  EXPECT_THAT(names, testing::ElementsAre(long_name + "1", long_name + "2", "a\\x1b"));
}

}  // namespace
}  // namespace wattle::daemon
