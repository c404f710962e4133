#include "power_lines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/quantity.hpp"
#include "energy_words.hpp"
#include "power_text.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string header_of(const PowerOptions& options, const PowerLine& first, const TextStyle& style) {
  if (options.format == PowerFormat::json) return "";
  if (options.format == PowerFormat::csv) {
    return fmt::format("time_unix_s,elapsed_s,domain,quantity,{},unknown_s,flags\n",
                       options.shows == PowerShows::power ? "power_w" : "energy_j,uncertainty_j");
  }
  return power_header(options, first, style);
}

std::string line_of(const PowerOptions& options, const PowerLine& line, const TextStyle& style) {
  if (options.format == PowerFormat::json) return json_of(options, line, false);
  if (options.format == PowerFormat::csv) return csv_of(options, line);
  return power_row(options, line, style);
}

std::string totals_of(const PowerOptions& options, const PowerLine& total, const TextStyle& style) {
  if (options.format == PowerFormat::json) return json_of(options, total, true);
  return power_totals(options, total, style);
}

}  // namespace wattle::app
