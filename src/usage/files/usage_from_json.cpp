#include "usage/files/usage_from_json.hpp"

#include <string>
#include <vector>

#include "base/json/enum_table.hpp"
#include "sensors/sensor.hpp"
#include "usage/files/usage_fields.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

Flags flags_of(const Json& json) {
  std::vector<std::string> names;
  take(json, names);
  Flags flags;
  for (const std::string& name : names) {
    if (const auto flag = enumerator_of<Flag>(kFlagNames, name)) flags.set(*flag);
  }
  return flags;
}

Method method_of(const Json& json) {
  const Json& word = at(json, "method");
  for (const Method method : {Method::integrated, Method::estimated}) {
    if (word == to_string(method)) return method;
  }
  return Method::counter;
}

/// The metric's own name, which lives as long as the program.
std::string_view quantity_of(const Json& json) {
  const Json& word = at(json, "quantity");
  for (const Metric metric : {Metric::power_instant, Metric::power_average}) {
    if (word == to_string(metric)) return to_string(metric);
  }
  return to_string(Metric::energy);
}

void take_one(const Json& json, AlternativeEnergy& into) {
  into.method = method_of(json);
  into.quantity = quantity_of(json);
  take_member(json, "energy_j", into.energy);
  take_member(json, "uncertainty_j", into.uncertainty);
  into.flags = flags_of(at(json, "flags"));
}

void take_one(const Json& json, Refusal& into) {
  take_member(json, "source", into.source);
  take_member(json, "subject", into.subject);
  take_member(json, "reason", into.reason);
  take_member(json, json.contains("remedy") ? "remedy" : "hint", into.remedy);  // of wattle.track/1
}

void take_one(const Json& json, DomainEnergy& into);

template <class T>
void take_list(const Json& json, std::vector<T>& into) {
  for_each_object(json, [&](const Json& one) { take_one(one, into.emplace_back()); });
}

void take_one(const Json& json, DomainEnergy& into) {
  take_member(json, "name", into.domain);
  take_member(json, "energy_j", into.energy.energy);
  take_member(json, "uncertainty_j", into.energy.uncertainty);
  take_member(json, "unknown_s", into.energy.unknown);
  into.energy.flags = flags_of(at(json, "flags"));
  into.energy.method = method_of(json);
  into.energy.quantity = quantity_of(json);
  take_member(json, "coverage", into.energy.coverage);
  take_list(at(json, "alternatives"), into.energy.alternatives);
  take_member(json, "source", into.source);
  take_member(json, "contained_in", into.contained_in);
}

}  // namespace

ResourceUsage usage_from_native_json(const Json& native) {
  ResourceUsage usage;
  const Json& json = at(native, "resource_usage");
  take_fields(json, usage, kUsageGroups);
  take_fields(json, usage, kUsageCpuTimes);
  take_fields(json, usage, kUsageFigures);
  if (const Json& energy = at(native, "energy"); energy.is_object()) {
    usage.energy.emplace();
    take_list(at(energy, "domains"), usage.energy->domains);
    take_list(at(energy, "refused"), usage.energy->refused);
  }
  take_member(native, "tracker_cpu_s", usage.tracker_cpu);
  return usage;
}

}  // namespace wattle
