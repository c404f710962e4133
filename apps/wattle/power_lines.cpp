#include "power_lines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "energy_words.hpp"
#include "report/quantity.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTimeWidth = 12;
constexpr int kWidth = 18;

Json number_or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

std::optional<double> si(const std::optional<Watts>& power) {
  return power ? std::optional(power->si()) : std::nullopt;
}
std::optional<double> si(const std::optional<Joules>& energy) {
  return energy ? std::optional(energy->si()) : std::nullopt;
}

/// Means something where the energy is known.
std::optional<double> uncertainty_of(const MeasuredEnergy& energy) {
  return energy.energy ? std::optional(energy.uncertainty.si()) : std::nullopt;
}

Json flags_json(const Flags& flags) {
  Json names = Json::array();
  flags.each([&](std::string_view name) { names.push_back(name); });
  return names;
}

Json device_json(const PowerOptions& options, const DeviceEnergy& device, Seconds length,
                 bool is_total) {
  const MeasuredEnergy& energy = device.energy;
  Json json = {{"domain", device.domain.name()}, {"quantity", device.quantity}};
  if (is_total || options.shows == PowerShows::energy) {
    json["energy_j"] = number_or_null(si(energy.energy));
    json["uncertainty_j"] = number_or_null(uncertainty_of(energy));
  }
  if (is_total) json["mean_w"] = number_or_null(si(mean_power(energy, length)));
  if (!is_total && options.shows == PowerShows::power) {
    json["power_w"] = number_or_null(si(mean_power(energy, length)));
  }
  json["unknown_s"] = energy.unknown.count();
  json["flags"] = flags_json(energy.flags);
  return json;
}

std::string json_of(const PowerOptions& options, const PowerLine& line, bool is_total) {
  Json devices = Json::array();
  for (const DeviceEnergy& device : line.devices) {
    devices.push_back(device_json(options, device, line.length, is_total));
  }
  const Json json = {
      {"schema", options.shows == PowerShows::power ? "wattle.power/1" : "wattle.energy/1"},
      {"type", is_total ? "total" : "reading"},
      {"time_unix_s", line.time_unix_s},
      {"elapsed_s", line.elapsed.count()},
      {"devices", std::move(devices)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string cell(const std::optional<double>& number) {
  return number ? fmt::format("{:.6f}", *number) : "";
}

std::string csv_of(const PowerOptions& options, const PowerLine& line) {
  std::string rows;
  for (const DeviceEnergy& device : line.devices) {
    const MeasuredEnergy& energy = device.energy;
    const std::string value = options.shows == PowerShows::power
                                  ? cell(si(mean_power(energy, line.length)))
                                  : cell(si(energy.energy)) + "," + cell(uncertainty_of(energy));
    rows += fmt::format("{:.6f},{:.6f},{},{},{},{:.6f},{}\n", line.time_unix_s,
                        line.elapsed.count(), device.domain.name(), device.quantity, value,
                        energy.unknown.count(), flags_text(energy.flags, " "));
  }
  return rows;
}

std::string text_of(const PowerOptions& options, const DeviceEnergy& device, Seconds length) {
  if (options.shows == PowerShows::power) {
    const auto power = mean_power(device.energy, length);
    return power ? to_text(*power) : "-";
  }
  return device.energy.energy ? to_text(*device.energy.energy) : "-";
}

std::string total_text(const DeviceEnergy& device, Seconds length) {
  const MeasuredEnergy& energy = device.energy;
  std::string text = fmt::format("{:<17} {:<15}", device.domain.name(), device.quantity);
  if (!energy.energy) return text + " not known\n";
  text += fmt::format(" {:>22}", to_text(*energy.energy, energy.uncertainty));
  const auto power = mean_power(energy, length);
  text += fmt::format(" {:>11}", power ? to_text(*power) : "-");
  if (energy.unknown > Seconds(0)) text += fmt::format("  {} unknown", to_text(energy.unknown));
  if (!energy.flags.none()) text += "  " + flags_text(energy.flags, ", ");
  return text + "\n";
}

}  // namespace

std::string header_of(const PowerOptions& options, const PowerLine& first) {
  if (options.format == PowerFormat::json) return "";
  if (options.format == PowerFormat::csv) {
    return fmt::format("time_unix_s,elapsed_s,domain,quantity,{},unknown_s,flags\n",
                       options.shows == PowerShows::power ? "power_w" : "energy_j,uncertainty_j");
  }
  std::string header = fmt::format("{:>{}}", "elapsed", kTimeWidth);
  std::string quantities = fmt::format("{:>{}}", "", kTimeWidth);
  for (const DeviceEnergy& device : first.devices) {
    header += fmt::format("{:>{}}", device.domain.name(), kWidth);
    quantities += fmt::format("{:>{}}", device.quantity, kWidth);
  }
  return header + "\n" + quantities + "\n";
}

std::string line_of(const PowerOptions& options, const PowerLine& line) {
  if (options.format == PowerFormat::json) return json_of(options, line, false);
  if (options.format == PowerFormat::csv) return csv_of(options, line);
  std::string text = fmt::format("{:>{}}", to_text(line.elapsed), kTimeWidth);
  for (const DeviceEnergy& device : line.devices) {
    text += fmt::format("{:>{}}", text_of(options, device, line.length), kWidth);
  }
  return text + "\n";
}

std::string totals_of(const PowerOptions& options, const PowerLine& total) {
  if (options.format == PowerFormat::json) return json_of(options, total, true);
  std::string text = fmt::format("\nin {}, ± of the sampling (k=2):\n", to_text(total.elapsed));
  for (const DeviceEnergy& device : total.devices) text += total_text(device, total.length);
  return text;
}

}  // namespace wattle::app
