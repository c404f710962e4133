#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "otlp/otlp_values.hpp"

namespace wattle::otlp {
namespace {

using Json = nlohmann::json;

const OtlpAttributes kResource = {{"host.name", std::string("node-1")},
                                  {"service.name", std::string("wattled")}};

OtlpMetric energy(double joules) {
  return {.name = "hw.energy",
          .description = "Energy",
          .unit = "J",
          .kind = OtlpKind::counter,
          .points = {{.attributes = {{"hw.id", std::string("package_0")}},
                      .value = joules,
                      .at = 1'700'000'000'000'000'000,
                      .since = 1'600'000'000'000'000'000}}};
}

Json only_metric(const OtlpBatch& batch) {
  return Json::parse(batch.body)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
}

TEST(OtlpJson, WritesACounterAsACumulativeSumWithItsStart) {
  const OtlpBatch batch = metrics_batch(kResource, {energy(12.5)});
  EXPECT_EQ(batch.items, 1U);
  const Json sum = only_metric(batch)["sum"];
  EXPECT_EQ(sum["aggregationTemporality"], 2);
  EXPECT_EQ(sum["isMonotonic"], true);
  EXPECT_EQ(sum["dataPoints"][0]["startTimeUnixNano"], "1600000000000000000");
  EXPECT_EQ(sum["dataPoints"][0]["timeUnixNano"], "1700000000000000000");
  EXPECT_EQ(sum["dataPoints"][0]["asDouble"], 12.5);
}

TEST(OtlpJson, WritesWholeNumbersAsTexts) {
  OtlpMetric memory = energy(0.0);
  memory.points[0].value = std::int64_t{9'007'199'254'740'993};
  memory.points[0].attributes = {{"hw.count", std::int64_t{-3}}, {"hw.is", true}, {"hw.x", 0.5}};
  const Json point = only_metric(metrics_batch({}, {memory}))["sum"]["dataPoints"][0];
  EXPECT_EQ(point["asInt"], "9007199254740993");
  EXPECT_EQ(point["attributes"][0]["value"]["intValue"], "-3");
  EXPECT_EQ(point["attributes"][1]["value"]["boolValue"], true);
  EXPECT_EQ(point["attributes"][2]["value"]["doubleValue"], 0.5);
}

TEST(OtlpJson, LeavesOutWhatIsNoNumberAndMetricsWithoutPoints) {
  OtlpMetric power{.name = "hw.power", .description = "", .unit = "W"};
  const OtlpBatch batch = metrics_batch(
      kResource,
      {power, energy(std::numeric_limits<double>::infinity()), energy(std::nan("")), energy(1.0)});
  EXPECT_EQ(batch.items, 1U);
  EXPECT_EQ(Json::parse(batch.body)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].size(), 1U);
}

TEST(OtlpJson, ReplacesBytesThatAreNoText) {
  OtlpMetric metric = energy(1.0);
  metric.points[0].attributes = {{"hw.name", std::string("a\xff\x01\"b")}};
  const Json point = only_metric(metrics_batch({}, {metric}))["sum"]["dataPoints"][0];
  EXPECT_EQ(point["attributes"][0]["value"]["stringValue"], "a\xef\xbf\xbd\x01\"b");
}

TEST(OtlpJson, WritesSpansWithHexadecimalNumbers) {
  OtlpSpan span{.name = "request", .begin = 5, .end = 7, .error = "exit 1"};
  span.trace[0] = 0xab;
  span.id[7] = 0x0f;
  span.parent = SpanId{1};
  const OtlpBatch batch = spans_batch(kResource, {span});
  EXPECT_EQ(batch.signal, OtlpSignal::traces);
  const Json json = Json::parse(batch.body)["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  EXPECT_EQ(json["traceId"], "ab000000000000000000000000000000");
  EXPECT_EQ(json["spanId"], "000000000000000f");
  EXPECT_EQ(json["parentSpanId"], "0100000000000000");
  EXPECT_EQ(json["kind"], 1);
  EXPECT_EQ(json["startTimeUnixNano"], "5");
  EXPECT_EQ(json["status"]["code"], 2);
}

TEST(OtlpJson, TimesBefore1970AreUnknown) {
  EXPECT_EQ(unix_ns(-1.0), 0U);
  EXPECT_EQ(unix_ns(std::nan("")), 0U);
  EXPECT_EQ(unix_ns(1e30), 0U);
  EXPECT_EQ(unix_ns(1'700'000'000.25), 1'700'000'000'250'000'000U);
}

}  // namespace
}  // namespace wattle::otlp
