#include "power_lines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/quantity.hpp"
#include "energy_words.hpp"

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
  return energy.energy ? std::optional(with_two_digits(energy.uncertainty).si()) : std::nullopt;
}

Json flags_json(const Flags& flags) {
  Json names = Json::array();
  flags.each([&](std::string_view name) { names.push_back(name); });
  return names;
}

Json alternatives_json(const std::vector<AlternativeEnergy>& alternatives) {
  Json list = Json::array();
  for (const AlternativeEnergy& other : alternatives) {
    list.push_back(
        {{"method", to_string(other.method)},
         {"quantity", other.quantity},
         {"energy_j", number_or_null(si(other.energy))},
         {"uncertainty_j",
          number_or_null(other.energy ? si(std::optional(with_two_digits(other.uncertainty)))
                                      : std::nullopt)},
         {"flags", flags_json(other.flags)}});
  }
  return list;
}

Json device_json(const PowerOptions& options, const DeviceEnergy& device, Seconds length,
                 bool is_total) {
  const BestEnergy& energy = device.energy;
  Json json = {{"domain", device.domain.name()},
               {"method", to_string(energy.method)},
               {"quantity", energy.quantity}};
  if (is_total || options.shows == PowerShows::energy) {
    json["energy_j"] = number_or_null(si(energy.energy));
    json["uncertainty_j"] = number_or_null(uncertainty_of(energy));
  }
  if (is_total) json["mean_w"] = number_or_null(si(mean_power(energy, length)));
  if (!is_total && options.shows == PowerShows::power) {
    json["power_w"] = number_or_null(si(mean_power(energy, length)));
  }
  json["unknown_s"] = energy.unknown.count();
  json["coverage"] = number_or_null(energy.coverage);
  if (is_total || options.shows == PowerShows::energy) {
    json["alternatives"] = alternatives_json(energy.alternatives);
  }
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
    const BestEnergy& energy = device.energy;
    const std::string value = options.shows == PowerShows::power
                                  ? cell(si(mean_power(energy, line.length)))
                                  : cell(si(energy.energy)) + "," + cell(uncertainty_of(energy));
    rows += fmt::format("{:.6f},{:.6f},{},{},{},{:.6f},{}\n", line.time_unix_s,
                        line.elapsed.count(), device.domain.name(), energy.quantity, value,
                        energy.unknown.count(), flags_text(energy.flags, " "));
  }
  return rows;
}

/// No digit that the energy's uncertainty does not support.
std::string power_text(const MeasuredEnergy& energy, Seconds length) {
  const auto power = mean_power(energy, length);
  return power ? rounded_text(*power, energy.uncertainty / (length - energy.unknown)) : "-";
}

std::string text_of(const PowerOptions& options, const DeviceEnergy& device, Seconds length) {
  if (options.shows == PowerShows::power) {
    return power_text(device.energy, length);
  }
  return device.energy.energy ? rounded_text(*device.energy.energy, device.energy.uncertainty)
                              : "-";
}

/// What the other ways show, a line each, below the figure.
std::string alternatives_text(const BestEnergy& energy) {
  std::string text;
  for (const AlternativeEnergy& other : energy.alternatives) {
    text += fmt::format("{:<17} {:<15} {:>22}", "  or by", other.quantity,
                        other.energy ? to_text(*other.energy, other.uncertainty) : "not known");
    if (!other.flags.none()) text += "  " + flags_text(other.flags, ", ");
    text += "\n";
  }
  return text;
}

std::string total_text(const DeviceEnergy& device, Seconds length) {
  const BestEnergy& energy = device.energy;
  std::string text = fmt::format("{:<17} {:<15}", device.domain.name(), energy.quantity);
  if (!energy.energy) {
    const std::string flags = flags_text(energy.flags, ", ");
    return text + " not known" + (flags.empty() ? "" : "  " + flags) + "\n" +
           alternatives_text(energy);
  }
  text += fmt::format(" {:>22}", to_text(*energy.energy, energy.uncertainty));
  text += fmt::format(" {:>11}", power_text(energy, length));
  if (energy.unknown > Seconds(0)) text += fmt::format("  {} unknown", to_text(energy.unknown));
  if (!energy.flags.none()) text += "  " + flags_text(energy.flags, ", ");
  return text + "\n" + alternatives_text(energy);
}

}  // namespace

std::string header_of(const PowerOptions& options, const PowerLine& first) {
  if (options.format == PowerFormat::json) return "";
  if (options.format == PowerFormat::csv) {
    return fmt::format("time_unix_s,elapsed_s,domain,quantity,{},unknown_s,flags\n",
                       options.shows == PowerShows::power ? "power_w" : "energy_j,uncertainty_j");
  }
  const std::string_view shown = options.shows == PowerShows::power ? "power" : "energy";
  std::string header = fmt::format("{:>{}}", "elapsed", kTimeWidth);
  std::string quantities = fmt::format("{:>{}}", "", kTimeWidth);
  for (const DeviceEnergy& device : first.devices) {
    header += fmt::format("{:>{}}", device.domain.name(), kWidth);
    const bool is_gpu = device.domain.kind() == DomainKind::nvidia_gpu ||
                        device.domain.kind() == DomainKind::amd_gpu ||
                        device.domain.kind() == DomainKind::intel_gpu;
    // The power of a module is not the GPU's, whose name stands above it.
    const std::string_view quantity = device.energy.quantity;
    const std::string_view usual = quantity.starts_with("module_") ? quantity : shown;
    quantities += fmt::format(
        "{:>{}}", is_gpu && options.gpu_domain ? to_string(*options.gpu_domain) : usual, kWidth);
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
