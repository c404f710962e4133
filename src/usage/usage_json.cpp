#include "usage/usage_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const RSSValues& values) {
  return {{"total_rss", or_null(values.total_rss)},
          {"private_rss", or_null(values.private_rss)},
          {"shared_rss", or_null(values.shared_rss)}};
}

Json to_json(const ProcessingUnitPercentages& percent) {
  return {{"max_sum_percent", or_null(percent.max_sum_percent)},
          {"max_hardware_percent", or_null(percent.max_hardware_percent)},
          {"mean_sum_percent", or_null(percent.mean_sum_percent)},
          {"mean_hardware_percent", or_null(percent.mean_hardware_percent)}};
}

Json to_json(const std::optional<double>& value) { return or_null(value); }

/// Of the machine's memory, or that of its GPUs.
template <class MaxMemory>
Json memory_json(const MaxMemory& ram) {
  return {{"unit", ram.unit},
          {"system_capacity", or_null(ram.system_capacity)},
          {"system", or_null(ram.system)},
          {"main", to_json(ram.main)},
          {"descendants", to_json(ram.descendants)},
          {"combined", to_json(ram.combined)}};
}

Json to_json(const CPUUtilization& cpu) {
  return {{"system_core_count", or_null(cpu.system_core_count)},
          {"n_expected_cores", or_null(cpu.n_expected_cores)},
          {"system", to_json(cpu.system)},
          {"main", to_json(cpu.main)},
          {"descendants", to_json(cpu.descendants)},
          {"combined", to_json(cpu.combined)},
          {"main_n_threads", or_null(cpu.main_n_threads)},
          {"descendants_n_threads", or_null(cpu.descendants_n_threads)},
          {"combined_n_threads", or_null(cpu.combined_n_threads)}};
}

Json to_json(const GPUUtilization& gpu) {
  return {{"system_gpu_count", or_null(gpu.system_gpu_count)},
          {"n_expected_gpus", or_null(gpu.n_expected_gpus)},
          {"gpu_percentages", to_json(gpu.gpu_percentages)}};
}

Json to_json(const std::optional<std::vector<ProcessUsage>>& processes) {
  if (!processes) return nullptr;
  Json list = Json::array();
  for (const ProcessUsage& process : *processes) {
    list.push_back({{"pid", process.pid},
                    {"name", process.name},
                    {"cpu_s", whole_nanoseconds(process.cpu)},
                    {"peak_rss_bytes", or_null(process.peak_rss_bytes)}});
  }
  return list;
}

}  // namespace

nlohmann::ordered_json kinds_json(const std::vector<Refusal>& missing) {
  auto list = nlohmann::ordered_json::array();
  for (const Refusal& kind : missing) {
    list.push_back({{"kind", kind.subject}, {"reason", kind.reason}});
  }
  return list;
}

Json json_of(const Flags& flags) {
  Json names = Json::array();
  flags.each([&](std::string_view name) { names.push_back(name); });
  return names;
}

Json json_of(const std::vector<AlternativeEnergy>& alternatives) {
  Json list = Json::array();
  for (const AlternativeEnergy& other : alternatives) {
    list.push_back({{"method", to_string(other.method)},
                    {"quantity", other.quantity},
                    {"energy_j", or_null(other.energy)},
                    {"uncertainty_j", uncertainty_or_null(other.energy, other.uncertainty)},
                    {"flags", json_of(other.flags)}});
  }
  return list;
}

namespace {

Json to_json(const std::optional<TrackedEnergy>& energy) {
  if (!energy) return nullptr;
  Json domains = Json::array();
  for (const DomainEnergy& domain : energy->domains) {
    const BestEnergy& measured = domain.energy;
    domains.push_back(
        {{"name", domain.domain},
         {"energy_j", or_null(measured.energy)},
         {"uncertainty_j", uncertainty_or_null(measured.energy, measured.uncertainty)},
         {"unknown_s", measured.unknown.count()},
         {"method", to_string(measured.method)},
         {"quantity", measured.quantity},
         {"source", domain.source},
         {"coverage", or_null(measured.coverage)},
         {"alternatives", json_of(measured.alternatives)},
         {"contained_in", text_or_null(domain.contained_in)},
         {"flags", json_of(measured.flags)}});
  }
  return {{"scope", "machine"},
          {"domains", std::move(domains)},
          {"refused", refused_json(energy->refused)}};
}

/// Words that gpu_tracker writes otherwise than by their key.
using Label = std::pair<std::string_view, std::string_view>;
constexpr std::array kLabels = {Label{"max_ram", "Max RAM"},
                                Label{"max_gpu_ram", "Max GPU RAM"},
                                Label{"cpu_utilization", "CPU utilization"},
                                Label{"gpu_utilization", "GPU utilization"},
                                Label{"total_rss", "Total RSS"},
                                Label{"private_rss", "Private RSS"},
                                Label{"shared_rss", "Shared RSS"},
                                Label{"n_expected_cores", "Number of expected cores"},
                                Label{"main_n_threads", "Main number of threads"},
                                Label{"descendants_n_threads", "Descendants number of threads"},
                                Label{"combined_n_threads", "Combined number of threads"},
                                Label{"system_gpu_count", "System GPU count"},
                                Label{"n_expected_gpus", "Number of expected GPUs"},
                                Label{"gpu_percentages", "GPU percentages"}};

std::string label_of(const std::string& key) {
  for (const auto& [name, label] : kLabels) {
    if (name == key) return std::string(label);
  }
  std::string label = key;
  for (char& letter : label) {
    if (letter == '_') letter = ' ';
  }
  // Keys are plain ASCII.
  if (!label.empty() && label[0] >= 'a' && label[0] <= 'z') {
    label[0] = static_cast<char>(label[0] - 'a' + 'A');
  }
  return label;
}

/// "0.228", "192.2", "0.0", "0.0000139": three decimals, more for three digits of a number that is
/// small, and no zeros at the end but one.
std::string short_number(double value) {
  constexpr int kMostDecimals = 12;
  const double size = std::abs(value);
  const int decimals =
      size > 0.0 && size < 0.01 ? 2 - static_cast<int>(std::floor(std::log10(size))) : 3;
  std::string text = fmt::format("{:.{}f}", value, std::min(decimals, kMostDecimals));
  while (text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "unknown";
  if (value.is_number_float()) return short_number(value.get<double>());
  return printable(value.is_string() ? value.get<std::string>() : dumped(value));
}

/// `path`: of the object, "max_ram.main.". `bounds`: paths of upper bounds.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the groups are
void append_text(std::string& text, const Json& object, const std::string& path,
                 const std::vector<std::string>& bounds) {
  const auto depth = static_cast<std::size_t>(std::ranges::count(path, '.'));
  for (const auto& [key, value] : object.items()) {
    if (!text.empty()) text += '\n';
    text.append(3 * depth, ' ');
    text += printable(label_of(key)) + ":";
    if (value.is_object()) {
      append_text(text, value, path + key + ".", bounds);
    } else {
      const bool is_bound = std::ranges::find(bounds, path + key) != bounds.end();
      text += (is_bound ? " at most " : " ") + value_text(value);
    }
  }
}

/// `unknown` and `mismatches`.
template <class Group>
Json reasons_json(const std::vector<Group>& groups) {
  Json json = Json::array();
  for (const Group& group : groups) {
    json.push_back({{"keys", group.keys}, {"reason", group.reason}});
  }
  return json;
}

}  // namespace

Json usage_groups(const ResourceUsage& usage) {
  return {{"max_ram", memory_json(usage.max_ram)},
          {"max_gpu_ram", memory_json(usage.max_gpu_ram)},
          {"cpu_utilization", to_json(usage.cpu_utilization)},
          {"gpu_utilization", to_json(usage.gpu_utilization)},
          {"compute_time", {{"unit", usage.compute_time.unit}, {"time", usage.compute_time.time}}}};
}

Json usage_json(const ResourceUsage& usage) {
  Json mechanisms = Json::array();
  for (const UsageMechanism& group : usage.mechanisms) {
    mechanisms.push_back({{"keys", group.keys}, {"mechanism", group.mechanism}});
  }
  std::optional<Seconds> cpu;
  if (usage.cpu_user && usage.cpu_system) cpu = *usage.cpu_user + *usage.cpu_system;
  Json json = usage_groups(usage);
  json["cpu_user_s"] = or_null(usage.cpu_user);
  json["cpu_system_s"] = or_null(usage.cpu_system);
  json["cpu_s"] = or_null(cpu);
  json["cpu_task_clock_s"] = or_null(usage.cpu_task_clock);
  json["peak_rss_bytes"] = or_null(usage.peak_rss_bytes);
  json["peak_pss_bytes"] = or_null(usage.peak_pss_bytes);
  json["io_read_bytes"] = or_null(usage.io_read_bytes);
  json["io_written_bytes"] = or_null(usage.io_written_bytes);
  json["storage_read_bytes"] = or_null(usage.storage_read_bytes);
  json["storage_written_bytes"] = or_null(usage.storage_written_bytes);
  json["minor_faults"] = or_null(usage.minor_faults);
  json["major_faults"] = or_null(usage.major_faults);
  json["voluntary_switches"] = or_null(usage.voluntary_switches);
  json["involuntary_switches"] = or_null(usage.involuntary_switches);
  json["still_running"] = to_json(usage.still_running);
  json["processes"] = or_null(usage.processes);
  json["unknown"] = reasons_json(usage.unknown);
  json["estimated"] = usage.estimated;
  json["mismatches"] = reasons_json(usage.mismatches);
  json["mechanisms"] = std::move(mechanisms);
  return json;
}

Json native_json(const ResourceUsage& usage) {
  Json json = {{"schema", kTrackSchema}, {"wattle_version", version()}};
  json["resource_usage"] = usage_json(usage);
  json["energy"] = to_json(usage.energy);
  json["tracker_cpu_s"] = or_null(usage.tracker_cpu);
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ResourceUsage::to_json() const {
  Json json = usage_groups(*this);
  if (!estimated.empty()) json["upper_bounds"] = estimated;
  return dumped(json);
}

std::string ResourceUsage::to_native_json() const { return dumped(native_json(*this)); }

std::string ResourceUsage::to_text() const {
  std::string text;
  append_text(text, usage_groups(*this), "", estimated);
  return text;
}

}  // namespace wattle
