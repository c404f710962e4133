#include "stream_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "energy_words.hpp"

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

std::vector<StreamedDevice> devices_of(const PowerReadings& readings, const ServerEnergy& energy) {
  std::vector<StreamedDevice> devices;
  const auto reason_in = [](const std::map<std::uint32_t, std::string>& reasons,
                            std::uint32_t index) {
    return printable(value_in(reasons, index).value_or(""));
  };
  for (const std::uint32_t gpu :
       indices_of(readings.gpu_power_w, energy.gpus, readings.gpu_reason)) {
    devices.push_back({.domain = fmt::format("gpu_{}", gpu),
                       .power_w = value_in(readings.gpu_power_w, gpu),
                       .read_unix_s = value_in(readings.gpu_time_s, gpu),
                       .energy = value_in(energy.gpus, gpu),
                       .reason = reason_in(readings.gpu_reason, gpu)});
  }
  for (const std::uint32_t cpu :
       indices_of(readings.cpu_power_w, energy.cpus, readings.cpu_reason, readings.dram_reason)) {
    const auto power = value_in(readings.cpu_power_w, cpu).value_or(CpuPowerReading{});
    const auto at = value_in(readings.cpu_time_s, cpu);
    devices.push_back({.domain = fmt::format("package_{}", cpu),
                       .power_w = power.cpu_w,
                       .read_unix_s = at,
                       .energy = value_in(energy.cpus, cpu),
                       .reason = reason_in(readings.cpu_reason, cpu)});
    StreamedDevice dram{.domain = fmt::format("dram_{}", cpu),
                        .power_w = power.dram_w,
                        .read_unix_s = at,
                        .energy = value_in(energy.drams, cpu),
                        .reason = reason_in(readings.dram_reason, cpu)};
    if (!dram.power_w && !dram.energy && dram.reason.empty()) continue;
    devices.push_back(std::move(dram));
  }
  return devices;
}

std::string trouble_of(std::string_view devices, const ConnectionState& state) {
  if (state.status == ConnectionStatus::live || state.status == ConnectionStatus::off) return "";
  const std::string reason = state.reason.empty() ? "" : ": " + printable(state.reason);
  return fmt::format("{}: {}{}", devices, to_string(state.status), reason);
}

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json state_json(const ConnectionState& state) {
  Json json = {{"status", to_string(state.status)}};
  json["reason"] = state.reason.empty() ? Json() : Json(printable(state.reason));
  return json;
}

void put_energy(const StreamedDevice& device, Json& json) {
  const MeasuredEnergy energy = device.energy.value_or(MeasuredEnergy{});
  json["energy_j"] = energy.energy ? Json(energy.energy->si()) : Json();
  json["uncertainty_j"] = energy.energy ? Json(with_two_digits(energy.uncertainty).si()) : Json();
  json["unknown_s"] = device.energy ? Json(energy.unknown.count()) : Json();
  Json flags = Json::array();
  energy.flags.each([&](std::string_view name) { flags.push_back(name); });
  json["flags"] = std::move(flags);
}

Json line_of(const StreamedPower& power, const StreamedServer& server, std::string_view type) {
  return {{"schema", "wattle.stream/1"},          {"type", type},
          {"time_unix_s", power.time_unix_s},     {"elapsed_s", power.elapsed.count()},
          {"server", printable(server.endpoint)}, {"gpus", state_json(server.gpu)},
          {"cpus", state_json(server.cpu)}};
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The sum of what is known, and how many devices it lacks.
struct Sum {
  Joules energy{};
  Joules uncertainty{};
  std::size_t known = 0;
  std::size_t missing = 0;
};

Sum sum_of(const StreamedPower& total) {
  Sum sum;
  for (const StreamedServer& server : total.servers) {
    for (const StreamedDevice& device : server.devices) {
      if (device.energy && device.energy->energy) {
        sum.energy += *device.energy->energy;
        sum.uncertainty += device.energy->uncertainty;
        ++sum.known;
      } else {
        ++sum.missing;
      }
    }
  }
  return sum;
}

constexpr std::size_t kServerWidth = 24;
constexpr std::size_t kDomainWidth = 12;

/// The first `width` characters of UTF-8.
std::string cut(std::string_view line, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U;
    if (begins && columns++ == width) return std::string(line.substr(0, i));
  }
  return std::string(line);
}

std::string row_of(const StreamedDevice& device, bool shows_energy, bool is_live) {
  const std::string power =
      device.power_w && is_live ? to_text(Watts(*device.power_w)) : std::string("-");
  std::string row = fmt::format("{:<{}} {:>12}", device.domain, kDomainWidth, power);
  const std::string reason = device.reason.empty() ? "" : "  " + device.reason;
  if (!shows_energy) return row + reason;
  const MeasuredEnergy energy = device.energy.value_or(MeasuredEnergy{});
  row += fmt::format(" {:>24}", energy.energy ? to_text(*energy.energy, energy.uncertainty) : "-");
  if (energy.energy && energy.unknown > Seconds(0)) {
    row += fmt::format("  {} unknown", to_text(energy.unknown));
  }
  return row + reason;
}

std::vector<std::string> rows_of(const StreamedServer& server, bool shows_energy) {
  std::vector<std::string> rows;
  for (const StreamedDevice& device : server.devices) {
    const ConnectionState& state = device.domain.starts_with("gpu_") ? server.gpu : server.cpu;
    rows.push_back(row_of(device, shows_energy, state.status == ConnectionStatus::live));
  }
  for (std::string& trouble : troubles_of(server)) rows.push_back(std::move(trouble));
  if (rows.empty()) rows.emplace_back("nothing yet");
  const std::string endpoint = cut(printable(server.endpoint), kServerWidth);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = fmt::format("{:<{}} {}", i == 0 ? endpoint : "", kServerWidth, rows[i]);
  }
  return rows;
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
  std::vector<std::string> troubles = {trouble_of("gpus", server.gpu),
                                       trouble_of("cpus", server.cpu)};
  std::erase(troubles, "");
  return troubles;
}

std::string json_lines_of(const StreamedPower& power, bool shows_energy) {
  std::string lines;
  for (const StreamedServer& server : power.servers) {
    Json line = line_of(power, server, "reading");
    Json devices = Json::array();
    for (const StreamedDevice& device : server.devices) {
      Json json = {{"domain", device.domain},
                   {"power_w", or_null(device.power_w)},
                   {"reason", device.reason.empty() ? Json() : Json(device.reason)},
                   {"read_unix_s", or_null(device.read_unix_s)}};
      if (shows_energy) put_energy(device, json);
      devices.push_back(std::move(json));
    }
    line["devices"] = std::move(devices);
    lines += text_of(line);
  }
  return lines;
}

std::string json_totals_of(const StreamedPower& total) {
  std::string lines;
  for (const StreamedServer& server : total.servers) {
    Json line = line_of(total, server, "total");
    Json devices = Json::array();
    for (const StreamedDevice& device : server.devices) {
      Json json = {{"domain", device.domain}};
      put_energy(device, json);
      const auto mean = mean_power(device.energy.value_or(MeasuredEnergy{}), total.elapsed);
      json["mean_w"] = mean ? Json(mean->si()) : Json();
      devices.push_back(std::move(json));
    }
    line["devices"] = std::move(devices);
    lines += text_of(line);
  }
  return lines;
}

std::string table_of(const StreamedPower& power, bool shows_energy, std::size_t width,
                     std::size_t height) {
  std::vector<std::string> rows = {
      fmt::format("{:<{}} {:<{}} {:>12}{}", "server", kServerWidth, "device", kDomainWidth, "power",
                  shows_energy ? fmt::format(" {:>24}", "energy") : "")};
  for (const StreamedServer& server : power.servers) {
    for (std::string& row : rows_of(server, shows_energy)) rows.push_back(std::move(row));
  }
  if (rows.size() > height) {
    const std::size_t left_out = rows.size() - std::max<std::size_t>(height, 1) + 1;
    rows.resize(rows.size() - left_out);
    rows.push_back(fmt::format("... {} lines more", left_out));
  }
  std::string table;
  for (const std::string& row : rows) table += cut(row, width) + "\n";
  return table;
}

std::string totals_of(const StreamedPower& total) {
  std::string text = fmt::format("in {}, ± of the sampling (k=2):\n", to_text(total.elapsed));
  for (const StreamedServer& server : total.servers) {
    std::string endpoint = printable(server.endpoint);
    for (const StreamedDevice& device : server.devices) {
      text += fmt::format("{:<{}} {:<{}} ", std::exchange(endpoint, ""), kServerWidth,
                          device.domain, kDomainWidth);
      if (!device.energy || !device.energy->energy) {
        text += device.reason.empty() ? "not known\n" : "not known: " + device.reason + "\n";
        continue;
      }
      const MeasuredEnergy& energy = *device.energy;
      const auto mean = mean_power(energy, total.elapsed);
      text += fmt::format(
          "{:>24} {:>12}", to_text(*energy.energy, energy.uncertainty),
          mean ? rounded_text(*mean, energy.uncertainty / (total.elapsed - energy.unknown)) : "-");
      if (energy.unknown > Seconds(0)) text += fmt::format("  {} unknown", to_text(energy.unknown));
      if (!energy.flags.none()) text += "  " + flags_text(energy.flags, ", ");
      text += "\n";
    }
    for (const std::string& trouble : troubles_of(server)) {
      text += fmt::format("{:<{}} {}\n", std::exchange(endpoint, ""), kServerWidth, trouble);
    }
  }
  const Sum sum = sum_of(total);
  if (sum.known < 2) return text;
  text += fmt::format("{:<{}} {:<{}} {:>24}", "all", kServerWidth, "", kDomainWidth,
                      to_text(sum.energy, sum.uncertainty));
  if (sum.missing > 0) text += fmt::format("  without {} not known", sum.missing);
  return text + "\n";
}

}  // namespace wattle::app
