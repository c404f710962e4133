#include "telemetry/run_telemetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace wattle::app {
namespace {

using otlp::OtlpAnswer;
using otlp::OtlpMetric;
using otlp::OtlpSpan;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found != values.end() ? found->second.c_str() : nullptr;
  };
}

Report a_run() {
  Report report;
  report.command = {"/usr/bin/train", "--token=secret"};
  report.exit = {.started = true, .code = 3, .signal = {}, .core_dumped = false, .error = ""};
  report.started_unix_s = 1.7e9;
  report.ended_unix_s = 1.7e9 + 10.0;
  report.wall = Seconds(10.0);
  report.energy.total.energy = Joules(500.0);
  report.energy.total.uncertainty = Joules(2.0);
  PhaseReport once{.name = "load"};
  once.total.energy = Joules(100.0);
  once.spans = {{.begin = Seconds(1.0), .end = Seconds(2.0)}};
  PhaseReport twice{.name = "step"};
  twice.total.energy = Joules(300.0);
  twice.spans = {{.begin = Seconds(2.0), .end = Seconds(3.0)},
                 {.begin = Seconds(4.0), .end = Seconds(5.0)}};
  report.phases.rows = {once, twice};
  return report;
}

bool has(const OtlpSpan& span, const std::string& key) {
  return std::ranges::find(span.attributes, key, &otlp::OtlpAttribute::key) !=
         span.attributes.end();
}

/// Answers requests with its answers in order, then with the last one.
class ScriptedPost final : public otlp::OtlpPost {
 public:
  explicit ScriptedPost(std::vector<OtlpAnswer> answers) : answers_(std::move(answers)) {}
  OtlpAnswer post(const otlp::OtlpBatch& batch, std::chrono::milliseconds,
                  const std::function<bool()>&) override {
    bodies.push_back(batch.body);
    const OtlpAnswer answer = answers_.front();
    if (answers_.size() > 1) answers_.erase(answers_.begin());
    return answer;
  }
  std::vector<std::string> bodies;

 private:
  std::vector<OtlpAnswer> answers_;
};

RunTelemetry telemetry() {
  return {otlp::make_target("http://collector:4318", variables({})), variables({})};
}

TEST(RunTelemetry, BelongsToTheTraceThatStartedIt) {
  const RunTrace inner = make_run_trace(variables({{"TRACEPARENT", kTrace}}));
  EXPECT_EQ(hex_text(inner.own.trace), kTrace.substr(3, 32));
  EXPECT_EQ(hex_text(*inner.parent), kTrace.substr(36, 16));
  EXPECT_NE(hex_text(inner.own.parent), kTrace.substr(36, 16));
  EXPECT_FALSE(make_run_trace(variables({{"TRACEPARENT", "00-zz"}})).parent);
  EXPECT_FALSE(make_run_trace(variables({})).parent);
}

TEST(RunTelemetry, ThePhasesAreInTheRun) {
  const RunTrace trace = make_run_trace(variables({}));
  const std::vector<OtlpSpan> spans = run_spans(a_run(), trace);
  ASSERT_THAT(spans, SizeIs(4));
  EXPECT_EQ(spans[0].name, "train");
  EXPECT_EQ(spans[0].error, "exit status 3");
  EXPECT_TRUE(has(spans[0], "energy.joules"));
  EXPECT_EQ(spans[1].name, "load");
  EXPECT_EQ(spans[1].parent, spans[0].id);
  EXPECT_EQ(spans[1].begin, 1'700'000'001'000'000'000U);
  EXPECT_TRUE(has(spans[1], "energy.joules"));
  // Of two times under one name only the sum is known.
  EXPECT_FALSE(has(spans[2], "energy.joules"));
}

TEST(RunTelemetry, HasTheUncertaintyAndTheFlagsOfEachEnergy) {
  Report report = a_run();
  DomainFigure gpu = figure_of({.domain = Domain::nvidia_gpu(0), .metric = Metric::power_average},
                               {.energy = Joules(400.0), .uncertainty = Joules(30.0)});
  gpu.figure.flags.set(Flag::partial_coverage);
  gpu.figure.flags.set(Flag::gap);
  report.energy.domains = {gpu};
  report.energy.total.flags.set(Flag::partial_coverage);
  report.phases.rows.front().total.uncertainty = Joules(7.0);
  report.phases.rows.front().total.flags.set(Flag::partial_coverage);
  const std::vector<OtlpMetric> metrics = run_metrics(report);
  const auto first_of = [&](const std::string& name) {
    const auto found = std::ranges::find(metrics, name, &OtlpMetric::name);
    return found == metrics.end() || found->points.empty() ? otlp::OtlpPoint{}
                                                           : found->points.front();
  };
  const auto value_of = [&](const std::string& name) {
    return std::get<double>(first_of(name).value);
  };
  const auto flags_of = [&](const std::string& name) {
    const auto attributes = first_of(name).attributes;
    const auto found = std::ranges::find(attributes, "energy.flags", &otlp::OtlpAttribute::key);
    return found == attributes.end() ? std::string() : std::get<std::string>(found->value);
  };
  EXPECT_EQ(flags_of("wattle.run.energy"), "gap partial_coverage");
  EXPECT_EQ(flags_of("wattle.run.energy.total"), "partial_coverage");
  EXPECT_EQ(flags_of("wattle.phase.energy"), "partial_coverage");
  EXPECT_EQ(value_of("wattle.run.energy.domain.uncertainty"), 30.0);
  EXPECT_EQ(value_of("wattle.run.energy.uncertainty"), 2.0);
  EXPECT_EQ(value_of("wattle.phase.energy.uncertainty"), 7.0);
}

TEST(RunTelemetry, AnUnknownEnergyIsNoNumber) {
  Report report = a_run();
  report.energy.total.energy.reset();
  report.phases.rows.clear();
  std::size_t points = 0;
  for (const OtlpMetric& metric : run_metrics(report)) points += metric.points.size();
  EXPECT_EQ(points, 1U);  // how long it took
  EXPECT_FALSE(has(run_spans(report, make_run_trace(variables({})))[0], "energy.joules"));
}

TEST(RunTelemetry, SendsNoArgumentOfTheCommand) {
  ScriptedPost post({{.status = 200, .body = "{}"}});
  EXPECT_EQ(telemetry().send(a_run(), post), "");
  ASSERT_THAT(post.bodies, SizeIs(2));
  for (const std::string& body : post.bodies) EXPECT_EQ(body.find("secret"), std::string::npos);
}

TEST(RunTelemetry, AUnitIsInTheRunUnlessItHasATrace) {
  RunTelemetry own = telemetry();
  own.add({.id = 1, .tag = "alone"}, "a");
  own.add({.id = 2, .tag = "traced", .traceparent = kTrace}, "b");
  own.add({.id = 3, .tag = "unsampled", .traceparent = kTrace.substr(0, 53) + "00"}, "c");
  ScriptedPost post({{.status = 200, .body = "{}"}});
  EXPECT_EQ(own.send(a_run(), post), "");
  const auto spans =
      nlohmann::json::parse(post.bodies.at(1))["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_THAT(spans, SizeIs(6));
  EXPECT_EQ(spans[4]["parentSpanId"], spans[0]["spanId"]);
  EXPECT_EQ(spans[5]["traceId"], kTrace.substr(3, 32));
  EXPECT_EQ(spans[5]["parentSpanId"], kTrace.substr(36, 16));
}

TEST(RunTelemetry, SaysInOneSentenceWhatWasNotSent) {
  ScriptedPost post({{.status = 400, .body = R"({"message":"bad\nthing"})"}});
  const std::string lost = telemetry().send(a_run(), post);
  EXPECT_THAT(lost, HasSubstr("11 data points and spans were not sent to http://collector:4318"));
  EXPECT_THAT(lost, HasSubstr("400: bad\\x0athing"));
  EXPECT_THAT(post.bodies, SizeIs(2));
}

TEST(RunTelemetry, DoesNotWaitLongerThanItsPatience) {
  ScriptedPost post({{.status = 429, .retry_after = std::chrono::seconds(1000)}});
  EXPECT_THAT(telemetry().send(a_run(), post), HasSubstr("429"));
  EXPECT_THAT(post.bodies, SizeIs(2));  // each once: there is no time for a second try
}

TEST(RunTelemetry, SendsTheSameAgain) {
  ScriptedPost post({{.failure = "refused"}, {.status = 503}, {.status = 200, .body = "{}"}});
  EXPECT_EQ(telemetry().send(a_run(), post), "");
  ASSERT_THAT(post.bodies, SizeIs(4));
  EXPECT_EQ(post.bodies[0], post.bodies[1]);
  EXPECT_EQ(post.bodies[0], post.bodies[2]);
}

TEST(RunTelemetry, KeepsABoundedNumberOfUnits) {
  RunTelemetry own = telemetry();
  for (std::size_t i = 0; i < RunTelemetry::kMostSpans + 7; ++i) {
    own.add({.id = i, .tag = "t"}, "");
  }
  ScriptedPost post({{.status = 200, .body = "{}"}});
  EXPECT_THAT(own.send(a_run(), post), HasSubstr("7 data points and spans were not sent"));
}

}  // namespace
}  // namespace wattle::app
