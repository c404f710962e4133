#include "otlp/unit_span.hpp"

#include "base/text/text.hpp"
#include "wattle/clock.hpp"

namespace wattle::otlp {

void add_energy(OtlpAttributes& attributes, const MeasuredEnergy& energy) {
  if (energy.energy) {
    attributes.push_back({"energy.joules", energy.energy->si()});
    attributes.push_back({"energy.uncertainty_joules", energy.uncertainty.si()});
  }
  if (energy.unknown > Seconds(0)) {
    attributes.push_back({"energy.unknown_seconds", energy.unknown.count()});
  }
  std::string flags;
  energy.flags.each(
      [&flags](std::string_view name) { flags += (flags.empty() ? "" : " ") + std::string(name); });
  if (!flags.empty()) attributes.push_back({"energy.flags", flags});
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
