#include "usage/usage_from_json.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/json_read.hpp"
#include "sensors/sensor.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

using wattle::take;

// Of those that are members of others.
template <class T>
void take_list(const Json& json, std::vector<T>& into);
void take(const Json& json, RSSValues& into);
void take(const Json& json, ProcessingUnitPercentages& into);
void take(const Json& json, CPUUtilization& into);
void take(const Json& json, GPUUtilization& into);
void take(const Json& json, ComputeTime& into);

/// The same of the member `key` of `object`.
template <class T>
void take(const Json& object, const char* key, T& into) {
  take(at(object, key), into);
}

void take(const Json& json, RSSValues& into) {
  take(json, "total_rss", into.total_rss);
  take(json, "private_rss", into.private_rss);
  take(json, "shared_rss", into.shared_rss);
}

/// A group of memory: that of the machine, or of its GPUs.
template <class MaxMemory>
void take_memory(const Json& json, MaxMemory& into) {
  take(json, "unit", into.unit);
  take(json, "system_capacity", into.system_capacity);
  take(json, "system", into.system);
  take(json, "main", into.main);
  take(json, "descendants", into.descendants);
  take(json, "combined", into.combined);
}

void take(const Json& json, ProcessingUnitPercentages& into) {
  take(json, "max_sum_percent", into.max_sum_percent);
  take(json, "max_hardware_percent", into.max_hardware_percent);
  take(json, "mean_sum_percent", into.mean_sum_percent);
  take(json, "mean_hardware_percent", into.mean_hardware_percent);
}

void take(const Json& json, CPUUtilization& into) {
  take(json, "system_core_count", into.system_core_count);
  take(json, "n_expected_cores", into.n_expected_cores);
  take(json, "system", into.system);
  take(json, "main", into.main);
  take(json, "descendants", into.descendants);
  take(json, "combined", into.combined);
  take(json, "main_n_threads", into.main_n_threads);
  take(json, "descendants_n_threads", into.descendants_n_threads);
  take(json, "combined_n_threads", into.combined_n_threads);
}

void take(const Json& json, GPUUtilization& into) {
  take(json, "system_gpu_count", into.system_gpu_count);
  take(json, "n_expected_gpus", into.n_expected_gpus);
  take(json, "gpu_percentages", into.gpu_percentages);
}

void take(const Json& json, ComputeTime& into) {
  take(json, "unit", into.unit);
  take(json, "time", into.time);
}

void take(const Json& json, ProcessUsage& into) {
  take(json, "pid", into.pid);
  take(json, "name", into.name);
  take(json, "cpu_s", into.cpu);
  take(json, "peak_rss_bytes", into.peak_rss_bytes);
}
void take(const Json& json, UnknownUsage& into) {
  take(json, "keys", into.keys);
  take(json, "reason", into.reason);
}
void take(const Json& json, UsageMismatch& into) {
  take(json, "keys", into.keys);
  take(json, "reason", into.reason);
}
void take(const Json& json, UsageMechanism& into) {
  take(json, "keys", into.keys);
  take(json, "mechanism", into.mechanism);
}

Flags flags_of(const Json& json) {
  std::vector<std::string> names;
  take(json, names);
  Flags flags;
  for (std::size_t i = 0; i < kFlagNames.size(); ++i) {
    if (std::ranges::find(names, kFlagNames.at(i)) != names.end()) flags.set(static_cast<Flag>(i));
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

void take(const Json& json, AlternativeEnergy& into) {
  into.method = method_of(json);
  into.quantity = quantity_of(json);
  take(json, "energy_j", into.energy);
  take(json, "uncertainty_j", into.uncertainty);
  into.flags = flags_of(at(json, "flags"));
}

void take(const Json& json, DomainEnergy& into) {
  take(json, "name", into.domain);
  take(json, "energy_j", into.energy.energy);
  take(json, "uncertainty_j", into.energy.uncertainty);
  take(json, "unknown_s", into.energy.unknown);
  into.energy.flags = flags_of(at(json, "flags"));
  into.energy.method = method_of(json);
  into.energy.quantity = quantity_of(json);
  take(json, "coverage", into.energy.coverage);
  take_list(at(json, "alternatives"), into.energy.alternatives);
  take(json, "source", into.source);
  take(json, "contained_in", into.contained_in);
}
void take(const Json& json, Refusal& into) {
  take(json, "source", into.source);
  take(json, "subject", into.subject);
  take(json, "reason", into.reason);
  take(json, json.contains("remedy") ? "remedy" : "hint", into.remedy);  // of wattle.track/1
}

template <class T>
void take_list(const Json& json, std::vector<T>& into) {
  if (!json.is_array()) return;
  for (const Json& one : json) take(one, into.emplace_back());
}

void take_own_figures(const Json& json, ResourceUsage& usage) {
  take(json, "cpu_user_s", usage.cpu_user);
  take(json, "cpu_system_s", usage.cpu_system);
  take(json, "cpu_task_clock_s", usage.cpu_task_clock);
  take(json, "peak_rss_bytes", usage.peak_rss_bytes);
  take(json, "peak_pss_bytes", usage.peak_pss_bytes);
  take(json, "io_read_bytes", usage.io_read_bytes);
  take(json, "io_written_bytes", usage.io_written_bytes);
  take(json, "storage_read_bytes", usage.storage_read_bytes);
  take(json, "storage_written_bytes", usage.storage_written_bytes);
  take(json, "minor_faults", usage.minor_faults);
  take(json, "major_faults", usage.major_faults);
  take(json, "voluntary_switches", usage.voluntary_switches);
  take(json, "involuntary_switches", usage.involuntary_switches);
  take(json, "processes", usage.processes);
  if (at(json, "still_running").is_array()) {
    take_list(at(json, "still_running"), usage.still_running.emplace());
  }
  take_list(at(json, "unknown"), usage.unknown);
  take(json, "estimated", usage.estimated);
  take_list(at(json, "mismatches"), usage.mismatches);
  take_list(at(json, "mechanisms"), usage.mechanisms);
}

}  // namespace

ResourceUsage usage_from_native_json(const Json& native) {
  ResourceUsage usage;
  const Json& json = at(native, "resource_usage");
  take_memory(at(json, "max_ram"), usage.max_ram);
  take_memory(at(json, "max_gpu_ram"), usage.max_gpu_ram);
  take(json, "cpu_utilization", usage.cpu_utilization);
  take(json, "gpu_utilization", usage.gpu_utilization);
  take(json, "compute_time", usage.compute_time);
  take_own_figures(json, usage);
  if (const Json& energy = at(native, "energy"); energy.is_object()) {
    usage.energy.emplace();
    take_list(at(energy, "domains"), usage.energy->domains);
    take_list(at(energy, "refused"), usage.energy->refused);
  }
  take(native, "tracker_cpu_s", usage.tracker_cpu);
  return usage;
}

}  // namespace wattle
