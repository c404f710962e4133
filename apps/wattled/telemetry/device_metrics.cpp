#include "telemetry/device_metrics.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/text.hpp"
#include "sensors/domain_traits.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using otlp::OtlpAttributes;
using otlp::OtlpKind;
using otlp::OtlpMetric;
using otlp::OtlpPoint;
using otlp::unix_ns;
using otlp::UnixNs;

/// A value of `hw.type` of OpenTelemetry, or one of ours where it has none.
std::string_view hardware_type_of(const DomainMetrics& domain) {
  try {
    const DomainTraits& traits = traits_of(Domain::parse(domain.domain));
    if (traits.in_total == "dram") return "memory";
    if (traits.category == DomainCategory::cpu) return "cpu";
    if (traits.category == DomainCategory::gpu) return "gpu";
    if (traits.category == DomainCategory::platform) return "enclosure";
  } catch (const Error&) {
    return "sensor";  // a name of a driver that is no domain
  }
  return "sensor";
}

void add_text(OtlpAttributes& attributes, const char* key, const std::string& text) {
  if (!text.empty()) attributes.push_back({key, printable(text)});
}

OtlpAttributes attributes_of(const DomainMetrics& domain) {
  OtlpAttributes attributes = {{"hw.id", printable(domain.domain)},
                               {"hw.type", std::string(hardware_type_of(domain))}};
  add_text(attributes, "hw.model", domain.info.model);
  add_text(attributes, "hw.vendor", domain.vendor);
  add_text(attributes, "hw.driver_version", domain.info.driver);
  add_text(attributes, "wattle.device", domain.device);
  add_text(attributes, "wattle.source", domain.source);
  attributes.push_back({"wattle.additive", domain.additive});
  return attributes;
}

/// A value of a domain that is known or not.
struct DeviceValue {
  const char* name;
  const char* description;
  const char* unit;
  OtlpKind kind;
  std::optional<double> DomainMetrics::*value;
};

constexpr std::array kDeviceValues{
    DeviceValue{"hw.power", "Power of the device.", "W", OtlpKind::gauge, &DomainMetrics::power_w},
    DeviceValue{"wattle.power.limit", "Power limit of the device.", "W", OtlpKind::gauge,
                &DomainMetrics::power_limit_w},
    DeviceValue{"hw.gpu.utilization", "Fraction of time that the GPU was busy.", "1",
                OtlpKind::gauge, &DomainMetrics::utilization_ratio},
    DeviceValue{"hw.gpu.memory.usage", "Memory in use on the device.", "By",
                OtlpKind::up_down_counter, &DomainMetrics::memory_used_bytes},
    DeviceValue{"hw.gpu.memory.limit", "Memory of the device.", "By", OtlpKind::up_down_counter,
                &DomainMetrics::memory_total_bytes},
    DeviceValue{"wattle.gpu.clock", "Clock of the GPU's processors.", "Hz", OtlpKind::gauge,
                &DomainMetrics::clock_hz},
    DeviceValue{"wattle.memory.clock", "Clock of the device's memory.", "Hz", OtlpKind::gauge,
                &DomainMetrics::memory_clock_hz},
    DeviceValue{"hw.temperature", "Temperature of the device.", "Cel", OtlpKind::gauge,
                &DomainMetrics::temperature_celsius},
    DeviceValue{"wattle.power.coverage", "Fraction of time that the sensor of power samples.", "1",
                OtlpKind::gauge, &DomainMetrics::coverage_ratio},
};

OtlpMetric energy_metric(const DaemonMetrics& metrics, UnixNs at, CounterStarts& starts) {
  OtlpMetric metric{.name = "hw.energy",
                    .description = "Energy of the device.",
                    .unit = "J",
                    .kind = OtlpKind::counter};
  for (const DomainMetrics& domain : metrics.domains) {
    if (!domain.energy_j) continue;
    OtlpPoint point{.attributes = attributes_of(domain), .value = *domain.energy_j, .at = at};
    if (domain.created_unix_s) {
      point.since = unix_ns(*domain.created_unix_s);
    } else {
      const CounterStarts::Counted counted = starts.of(domain.domain, *domain.energy_j, at);
      point.value = counted.joules;
      point.since = counted.since;
    }
    metric.points.push_back(std::move(point));
  }
  return metric;
}

OtlpMetric uncertainty_metric(const DaemonMetrics& metrics, UnixNs at) {
  OtlpMetric metric{.name = "wattle.energy.uncertainty",
                    .description = "Uncertainty (k = 2) of an energy that is integrated.",
                    .unit = "J"};
  for (const DomainMetrics& domain : metrics.domains) {
    if (!domain.energy_j || !domain.energy_uncertainty_j) continue;
    metric.points.push_back(
        {.attributes = attributes_of(domain), .value = *domain.energy_uncertainty_j, .at = at});
  }
  return metric;
}

OtlpMetric unknown_metric(const DaemonMetrics& metrics, UnixNs at) {
  OtlpMetric metric{.name = "wattle.energy.unknown",
                    .description = "Time that is missing in an energy.",
                    .unit = "s",
                    .kind = OtlpKind::counter};
  for (const DomainMetrics& domain : metrics.domains) {
    if (!domain.energy_unknown_s || !domain.created_unix_s) continue;
    metric.points.push_back({.attributes = attributes_of(domain),
                             .value = *domain.energy_unknown_s,
                             .at = at,
                             .since = unix_ns(*domain.created_unix_s)});
  }
  return metric;
}

OtlpMetric value_metric(const DaemonMetrics& metrics, const DeviceValue& value, UnixNs at) {
  OtlpMetric metric{
      .name = value.name, .description = value.description, .unit = value.unit, .kind = value.kind};
  const bool is_whole = metric.unit == "By";
  for (const DomainMetrics& domain : metrics.domains) {
    const std::optional<double>& known = domain.*value.value;
    if (!known || !std::isfinite(*known)) continue;
    OtlpPoint point{.attributes = attributes_of(domain), .value = *known, .at = at};
    if (is_whole) point.value = static_cast<std::int64_t>(std::llround(*known));
    if (value.kind != OtlpKind::gauge) point.since = unix_ns(metrics.started_unix_s);
    metric.points.push_back(std::move(point));
  }
  return metric;
}

OtlpMetric up_metric(const DaemonMetrics& metrics, UnixNs at) {
  OtlpMetric metric{.name = "wattle.sensor.up",
                    .description = "1 if the last reading succeeded and the counter moves.",
                    .unit = "1"};
  for (const DomainMetrics& domain : metrics.domains) {
    OtlpAttributes attributes = attributes_of(domain);
    add_text(attributes, "wattle.reason", domain.reason);
    metric.points.push_back(
        {.attributes = std::move(attributes), .value = std::int64_t{domain.up ? 1 : 0}, .at = at});
  }
  return metric;
}

void add_units(const UnitMetrics& units, UnixNs at, std::vector<OtlpMetric>& metrics) {
  OtlpMetric energy{.name = "wattle.unit.energy",
                    .description = "Energy of the units of work that have ended.",
                    .unit = "J",
                    .kind = OtlpKind::counter};
  OtlpMetric count{.name = "wattle.unit.count",
                   .description = "Units of work whose energy is known.",
                   .unit = "{unit}",
                   .kind = OtlpKind::counter};
  const UnixNs since = unix_ns(units.since_unix_s);
  for (const auto& [name, tag] : served_tags(units.report)) {
    const OtlpAttributes attributes = {{"wattle.unit.tag", name}};
    energy.points.push_back(
        {.attributes = attributes, .value = tag->sum.si(), .at = at, .since = since});
    count.points.push_back({.attributes = attributes,
                            .value = static_cast<std::int64_t>(tag->count),
                            .at = at,
                            .since = since});
  }
  metrics.push_back(std::move(energy));
  metrics.push_back(std::move(count));
}

void add_process(const DaemonMetrics& metrics, UnixNs at, std::vector<OtlpMetric>& all) {
  const UnixNs since = unix_ns(metrics.started_unix_s);
  if (metrics.own.cpu_s) {
    all.push_back({.name = "process.cpu.time",
                   .description = "CPU time of the daemon.",
                   .unit = "s",
                   .kind = OtlpKind::counter,
                   .points = {{.value = *metrics.own.cpu_s, .at = at, .since = since}}});
  }
  if (metrics.own.resident_bytes) {
    const auto bytes = static_cast<std::int64_t>(*metrics.own.resident_bytes);
    all.push_back({.name = "process.memory.usage",
                   .description = "Memory of the daemon.",
                   .unit = "By",
                   .kind = OtlpKind::up_down_counter,
                   .points = {{.value = bytes, .at = at, .since = since}}});
  }
}

}  // namespace

CounterStarts::Counted CounterStarts::of(const std::string& domain, double joules, UnixNs at) {
  const auto [place, is_new] = starts_.try_emplace(
      domain, CounterStart{.first_j = joules, .last_j = joules, .since = at, .last_at = at});
  CounterStart& start = place->second;
  // It started again after it was last seen, at 0.
  if (joules < start.last_j) start = {.first_j = 0.0, .last_j = joules, .since = start.last_at};
  start.last_j = joules;
  start.last_at = at;
  return {.joules = joules - start.first_j, .since = start.since};
}

std::vector<OtlpMetric> otlp_metrics_of(const DaemonMetrics& metrics, UnixNs at,
                                        CounterStarts& starts) {
  std::vector<OtlpMetric> all{energy_metric(metrics, at, starts), uncertainty_metric(metrics, at),
                              unknown_metric(metrics, at)};
  for (const DeviceValue& value : kDeviceValues) all.push_back(value_metric(metrics, value, at));
  all.push_back(up_metric(metrics, at));
  if (metrics.units) add_units(*metrics.units, at, all);
  add_process(metrics, at, all);
  return all;
}

}  // namespace wattle::daemon
