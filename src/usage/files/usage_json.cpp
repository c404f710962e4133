#include "usage/files/usage_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "usage/files/usage_fields.hpp"
#include "wattle/wattle.hpp"

namespace wattle {

using Json = nlohmann::ordered_json;

nlohmann::ordered_json missing_kinds_json(const std::vector<Refusal>& missing) {
  auto list = nlohmann::ordered_json::array();
  for (const Refusal& kind : missing) {
    list.push_back({{"kind", kind.subject}, {"reason", kind.reason}});
  }
  return list;
}

namespace {

Json to_json(const std::optional<TrackedEnergy>& energy) {
  if (!energy) return nullptr;
  return {{"scope", "machine"},
          {"domains", json_of(energy->domains)},
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
  std::string label = upper(key.substr(0, 1)) + key.substr(std::min<std::size_t>(key.size(), 1));
  std::ranges::replace(label, '_', ' ');
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
  if (value.is_null()) return std::string(kUnknown);
  if (value.is_number_float()) return short_number(value.get<double>());
  return printable(value.is_string() ? value.get<std::string>() : dumped(value));
}

/// " at most 4.5", " 0.473 (at most 0.895)". `path`: "max_ram.main.total_rss".
std::string figure_text(const ResourceUsage& usage, const std::string& path, const Json& value) {
  const bool is_bound = std::ranges::find(usage.estimated, path) != usage.estimated.end();
  std::string text = (is_bound ? " at most " : " ") + value_text(value);
  const auto bound = std::ranges::find(usage.bounds, path, &UsageBound::key);
  if (bound == usage.bounds.end()) return text;
  return text + " (at most " + short_number(bound->at_most) + ")";
}

/// `path`: of the object, "max_ram.main.".
// NOLINTNEXTLINE(misc-no-recursion): as deep as the groups are
void append_text(std::string& text, const Json& object, const std::string& path,
                 const ResourceUsage& usage) {
  const auto depth = static_cast<std::size_t>(std::ranges::count(path, '.'));
  for (const auto& [key, value] : object.items()) {
    if (!text.empty()) text += '\n';
    text.append(3 * depth, ' ');
    text += printable(label_of(key)) + ":";
    if (value.is_object()) {
      append_text(text, value, path + key + ".", usage);
    } else {
      text += figure_text(usage, path + key, value);
    }
  }
}

}  // namespace

Json usage_groups(const ResourceUsage& usage) {
  Json json = Json::object();
  add_fields(json, usage, kUsageGroups);
  return json;
}

Json native_json(const ResourceUsage& usage) {
  Json json = {{"schema", kTrackSchema}, {"wattle_version", version()}};
  json["resource_usage"] = json_of(usage);
  json["energy"] = to_json(usage.energy);
  json["tracker_cpu_s"] = or_null(usage.tracker_cpu);
  return json;
}

ResourceUsage usage_from_native_json(const Json& native) {
  ResourceUsage usage;
  take_member(native, "resource_usage", usage);
  if (const Json& energy = at(native, "energy"); energy.is_object()) {
    usage.energy.emplace();
    take_member(energy, "domains", usage.energy->domains);
    take_refused(at(energy, "refused"), usage.energy->refused);
  }
  take_member(native, "tracker_cpu_s", usage.tracker_cpu);
  return usage;
}

std::string ResourceUsage::to_json() const {
  Json json = usage_groups(*this);
  if (!estimated.empty()) json["upper_bounds"] = estimated;
  for (const UsageBound& bound : bounds) {
    if (bound.key.starts_with("max_ram.")) json["at_most"][bound.key] = bound.at_most;
  }
  return dumped(json);
}

std::string ResourceUsage::to_native_json() const { return dumped(native_json(*this)); }

std::string ResourceUsage::to_text() const {
  std::string text;
  append_text(text, usage_groups(*this), "", *this);
  return text;
}

std::ostream& operator<<(std::ostream& out, const ResourceUsage& usage) {
  return out << usage.to_text();
}

}  // namespace wattle
