#include "stream/stream_lines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/json/json_write.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "client/connection_words.hpp"
#include "output/energy_words.hpp"
#include "usage/files/usage_json.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::optional<T> value_in(const std::map<std::uint32_t, T>& values, std::uint32_t index) {
  const auto found = values.find(index);
  return found == values.end() ? std::nullopt : std::optional<T>(found->second);
}

/// The indices of all these maps, in order, each once.
template <class... Maps>
std::set<std::uint32_t> indices_of(const Maps&... maps) {
  std::set<std::uint32_t> indices;
  const auto add = [&](const auto& map) {
    for (const auto& [index, value] : map) indices.insert(index);
  };
  (add(maps), ...);
  return indices;
}

struct CpuNames {
  std::string cpu;
  std::string dram;
  bool is_additive = true;  ///< false: the platform, which overlaps all others
};

/// The names of a CPU and of its memory: as its server reports them, else by its number.
CpuNames names_of(const PowerReadings& readings, std::uint32_t cpu) {
  constexpr std::string_view kPackage = "package_";
  const std::string numbered = fmt::format("{}{}", kPackage, cpu);
  const std::string name = printable(value_in(readings.cpu_domain, cpu).value_or(numbered));
  const bool is_package = name.starts_with(kPackage);
  return {.cpu = name,
          .dram = fmt::format("dram_{}", is_package ? name.substr(kPackage.size()) : name),
          .is_additive = is_package};
}

std::vector<StreamedDevice> devices_of(const PowerReadings& readings, const ServerEnergy& energy) {
  std::vector<StreamedDevice> devices;
  const auto reason_in = [](const std::map<std::uint32_t, std::string>& reasons,
                            std::uint32_t index) {
    return printable(value_in(reasons, index).value_or(""));
  };
  for (const std::uint32_t gpu : indices_of(readings.gpu_power, energy.gpus, readings.gpu_reason)) {
    const std::string numbered = fmt::format("gpu_{}", gpu);
    devices.push_back({.domain = printable(value_in(readings.gpu_domain, gpu).value_or(numbered)),
                       .is_gpu = true,
                       .power_w = si(value_in(readings.gpu_power, gpu)),
                       .read_unix_s = value_in(readings.gpu_time_s, gpu),
                       .energy = value_in(energy.gpus, gpu),
                       .reason = reason_in(readings.gpu_reason, gpu)});
  }
  std::set<std::string> counted;  // AMD's kernels show a package once a die
  for (const std::uint32_t cpu :
       indices_of(readings.cpu_power, energy.cpus, readings.cpu_reason, readings.dram_reason)) {
    const auto power = value_in(readings.cpu_power, cpu).value_or(CpuPowerReading{});
    const auto at = value_in(readings.cpu_time_s, cpu);
    const CpuNames names = names_of(readings, cpu);
    const bool counts = names.is_additive && counted.insert(names.cpu).second;
    devices.push_back({.domain = names.cpu,
                       .power_w = si(power.cpu),
                       .read_unix_s = at,
                       .energy = value_in(energy.cpus, cpu),
                       .reason = reason_in(readings.cpu_reason, cpu),
                       .counts = counts});
    StreamedDevice dram{.domain = names.dram,
                        .power_w = si(power.dram),
                        .read_unix_s = at,
                        .energy = value_in(energy.drams, cpu),
                        .reason = reason_in(readings.dram_reason, cpu),
                        .counts = counts};
    if (!dram.power_w && !dram.energy && dram.reason.empty()) continue;
    devices.push_back(std::move(dram));
  }
  return devices;
}

/// GPUs and CPUs are in the same state.
bool is_of_both(const StreamedServer& server) {
  return server.gpu.status == server.cpu.status && server.gpu.reason == server.cpu.reason;
}

std::string trouble_of(std::string_view devices, const ConnectionState& state) {
  if (state.status == ConnectionStatus::live || state.status == ConnectionStatus::off) return "";
  const std::string reason = state.reason.empty() ? "" : ": " + printable(state.reason);
  return fmt::format("{}{}{}", devices, to_string(state.status), reason);
}

Json state_json(const ConnectionState& state) {
  return {{"status", to_string(state.status)}, {"reason", text_or_null(printable(state.reason))}};
}

void put_energy(const StreamedDevice& device, Json& json) {
  const MeasuredEnergy energy = device.energy.value_or(MeasuredEnergy{});
  json["energy_j"] = or_null(energy.energy);
  json["uncertainty_j"] = uncertainty_or_null(energy.energy, energy.uncertainty);
  json["unknown_s"] = device.energy ? Json(energy.unknown.count()) : Json();
  json["flags"] = wattle::json_of(energy.flags);
}

/// A line for each server, with what `json_of` makes of its devices.
template <class JsonOf>
std::string lines_of(const StreamedPower& power, std::string_view type, JsonOf json_of) {
  std::string lines;
  for (const StreamedServer& server : power.servers) {
    Json line = {{"schema", "wattle.stream/1"},          {"type", type},
                 {"time_unix_s", power.time_unix_s},     {"elapsed_s", power.elapsed.count()},
                 {"server", printable(server.endpoint)}, {"gpus", state_json(server.gpu)},
                 {"cpus", state_json(server.cpu)},       {"devices", Json::array()}};
    for (const StreamedDevice& device : server.devices) line["devices"].push_back(json_of(device));
    lines += dumped(line) + "\n";
  }
  return lines;
}

}  // namespace

std::vector<StreamedServer> servers_of(const PowerSnapshot& snapshot,
                                       const std::map<std::string, ServerEnergy>& energies) {
  std::vector<StreamedServer> servers;
  for (const auto& [endpoint, readings] : snapshot) {
    const auto energy = energies.find(endpoint);
    servers.push_back({.endpoint = endpoint,
                       .gpu = readings.gpu,
                       .cpu = readings.cpu,
                       .devices = devices_of(
                           readings, energy == energies.end() ? ServerEnergy{} : energy->second)});
  }
  return servers;
}

std::vector<std::string> troubles_of(const StreamedServer& server) {
  if (is_of_both(server)) {
    const std::string of_both = trouble_of("", server.gpu);
    return of_both.empty() ? std::vector<std::string>() : std::vector{of_both};
  }
  std::vector<std::string> troubles = {trouble_of("gpus: ", server.gpu),
                                       trouble_of("cpus: ", server.cpu)};
  std::erase(troubles, "");
  return troubles;
}

std::vector<std::string> trouble_lines_of(const StreamedServer& server, bool is_first) {
  const std::string name = printable(server.endpoint);
  std::vector<std::string> troubles = troubles_of(server);
  const bool has_gpus = server.gpu.status != ConnectionStatus::off;
  const bool has_cpus = server.cpu.status != ConnectionStatus::off;
  const ConnectionState& state = has_gpus ? server.gpu : server.cpu;
  const bool is_all = troubles.size() == 1 && (!has_gpus || !has_cpus || is_of_both(server));
  if (is_first && is_all && state.status == ConnectionStatus::connecting && !state.reason.empty()) {
    return {client::cannot_reach(name, printable(state.reason))};
  }
  for (std::string& trouble : troubles) trouble = fmt::format("{}: {}", name, trouble);
  return troubles;
}

std::string json_lines_of(const StreamedPower& power, bool shows_energy) {
  return lines_of(power, "reading", [&](const StreamedDevice& device) {
    Json json = {{"domain", device.domain},
                 {"power_w", or_null(device.power_w)},
                 {"reason", text_or_null(device.reason)},
                 {"read_unix_s", or_null(device.read_unix_s)}};
    if (shows_energy) put_energy(device, json);
    return json;
  });
}

std::string json_totals_of(const StreamedPower& total) {
  return lines_of(total, "total", [&](const StreamedDevice& device) {
    Json json = {{"domain", device.domain}};
    put_energy(device, json);
    const auto mean = uncertain_power(device.energy.value_or(MeasuredEnergy{}), total.elapsed);
    json["mean_w"] = mean ? Json(mean->value) : Json();
    json["uncertainty_w"] = mean ? Json(mean->uncertainty) : Json();
    return json;
  });
}

}  // namespace wattle::app
