#include "otlp/otlp_values.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "base/json/json_write.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/text.hpp"
#include "wattle/clock.hpp"
#include "wattle/wattle.hpp"

namespace wattle::otlp {
namespace {

using Json = nlohmann::ordered_json;

/// AGGREGATION_TEMPORALITY_CUMULATIVE, SPAN_KIND_INTERNAL, STATUS_CODE_ERROR: enumerators are sent
/// as numbers.
constexpr int kCumulative = 2;
constexpr int kInternal = 1;
constexpr int kStatusError = 2;

Json value_json(const OtlpValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return {{"stringValue", *text}};
  if (const auto* const number = std::get_if<std::int64_t>(&value)) {
    return {{"intValue", std::to_string(*number)}};
  }
  if (const auto* const number = std::get_if<double>(&value)) return {{"doubleValue", *number}};
  return {{"boolValue", std::get<bool>(value)}};
}

bool is_sendable(const OtlpValue& value) {
  const auto* const number = std::get_if<double>(&value);
  return number == nullptr || std::isfinite(*number);
}

Json attributes_json(const OtlpAttributes& attributes) {
  Json list = Json::array();
  for (const OtlpAttribute& attribute : attributes) {
    if (attribute.key.empty() || !is_sendable(attribute.value)) continue;
    list.push_back({{"key", attribute.key}, {"value", value_json(attribute.value)}});
  }
  return list;
}

std::string time_text(UnixNs time) { return std::to_string(time); }

bool is_sendable(const OtlpPoint& point) {
  const auto* const number = std::get_if<double>(&point.value);
  return number == nullptr || std::isfinite(*number);
}

Json point_json(const OtlpPoint& point) {
  Json json = {{"attributes", attributes_json(point.attributes)}};
  if (point.since) json["startTimeUnixNano"] = time_text(*point.since);
  json["timeUnixNano"] = time_text(point.at);
  if (const auto* const number = std::get_if<std::int64_t>(&point.value)) {
    json["asInt"] = std::to_string(*number);
  } else {
    json["asDouble"] = std::get<double>(point.value);
  }
  return json;
}

Json metric_json(const OtlpMetric& metric, Json points) {
  Json json = {{"name", metric.name}, {"description", metric.description}, {"unit", metric.unit}};
  Json data = {{"dataPoints", std::move(points)}};
  if (metric.kind == OtlpKind::gauge) {
    json["gauge"] = std::move(data);
    return json;
  }
  data["aggregationTemporality"] = kCumulative;
  data["isMonotonic"] = metric.kind == OtlpKind::counter;
  json["sum"] = std::move(data);
  return json;
}

Json span_json(const OtlpSpan& span) {
  Json json = {{"traceId", hex_text(span.trace)}, {"spanId", hex_text(span.id)}};
  if (span.parent) json["parentSpanId"] = hex_text(*span.parent);
  json["name"] = span.name;
  json["kind"] = kInternal;
  json["startTimeUnixNano"] = time_text(span.begin);
  json["endTimeUnixNano"] = time_text(span.end);
  json["attributes"] = attributes_json(span.attributes);
  if (!span.error.empty()) json["status"] = {{"message", span.error}, {"code", kStatusError}};
  return json;
}

/// `list`: "resourceMetrics" and so on.
std::string body_of(const OtlpAttributes& resource, const char* list, const char* scopes,
                    const char* items, Json content) {
  Json scope = {{"scope", {{"name", "wattle"}, {"version", std::string(version())}}}};
  scope[items] = std::move(content);
  Json of_resource = {{"resource", {{"attributes", attributes_json(resource)}}}};
  of_resource[scopes] = Json::array({std::move(scope)});
  Json body;
  body[list] = Json::array({std::move(of_resource)});
  return dumped(body);
}

}  // namespace

UnixNs unix_ns(double unix_s) noexcept {
  constexpr double kMost = 1.8e10;  // what 64 bits of nanoseconds hold
  if (!(unix_s > 0.0) || unix_s > kMost) return 0;
  // A double has 0.2 µs of these times: the rest would be invented digits.
  constexpr double kPerSecond = 1e6;
  constexpr UnixNs kNsInStep = 1000;
  return static_cast<UnixNs>(std::llround(unix_s * kPerSecond)) * kNsInStep;
}

OtlpBatch metrics_batch(const OtlpAttributes& resource, const std::vector<OtlpMetric>& metrics) {
  OtlpBatch batch{.signal = OtlpSignal::metrics};
  Json all = Json::array();
  for (const OtlpMetric& metric : metrics) {
    Json points = Json::array();
    for (const OtlpPoint& point : metric.points) {
      if (is_sendable(point)) points.push_back(point_json(point));
    }
    if (points.empty()) continue;
    batch.items += points.size();
    all.push_back(metric_json(metric, std::move(points)));
  }
  batch.body = body_of(resource, "resourceMetrics", "scopeMetrics", "metrics", std::move(all));
  return batch;
}

OtlpBatch spans_batch(const OtlpAttributes& resource, const std::vector<OtlpSpan>& spans) {
  OtlpBatch batch{.signal = OtlpSignal::traces, .items = spans.size()};
  batch.body =
      body_of(resource, "resourceSpans", "scopeSpans", "spans", json_list(spans, span_json));
  return batch;
}

void add_energy(OtlpAttributes& attributes, const MeasuredEnergy& energy) {
  if (energy.energy) {
    attributes.push_back({"energy.joules", energy.energy->si()});
    attributes.push_back({"energy.uncertainty_joules", energy.uncertainty.si()});
  }
  if (energy.unknown > Seconds(0)) {
    attributes.push_back({"energy.unknown_seconds", energy.unknown.count()});
  }
  add_flags(attributes, energy.flags);
}

void add_flags(OtlpAttributes& attributes, Flags flags) {
  if (!flags.none()) attributes.push_back({"energy.flags", flags_text(flags, " ")});
}

bool is_recorded(const UnitEnergy& unit) {
  const auto trace = parse_traceparent(unit.traceparent);
  return !trace || trace->is_sampled;
}

OtlpSpan span_of(const UnitEnergy& unit, const std::string& id,
                 const std::optional<TraceContext>& otherwise) {
  auto trace = parse_traceparent(unit.traceparent);
  if (!trace) trace = otherwise;
  OtlpSpan span{.trace = trace ? trace->trace : make_trace_id(),
                .id = make_span_id(),
                .name = printable(unit.tag),
                .begin = unix_ns(to_unix(unit.begin)),
                .end = unix_ns(to_unix(unit.end))};
  if (trace) span.parent = trace->parent;
  span.attributes = {{"wattle.unit.tag", printable(unit.tag)}, {"wattle.unit.id", printable(id)}};
  if (unit.work > 0.0) span.attributes.push_back({"wattle.unit.work", unit.work});
  span.attributes.push_back({"wattle.unit.weight", unit.weight});
  add_energy(span.attributes, unit.energy);
  return span;
}

}  // namespace wattle::otlp
