#include "watch/power_lines.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json/json_write.hpp"
#include "base/text/quantity.hpp"
#include "output/energy_words.hpp"
#include "report/estimate_fields.hpp"
#include "usage/files/usage_json.hpp"
#include "watch/power_text.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

/// Means something where the energy is known.
std::optional<double> uncertainty_of(const MeasuredEnergy& energy) {
  return energy.energy ? std::optional(with_two_digits(energy.uncertainty).si()) : std::nullopt;
}

/// The uncertainty of a mean power.
std::optional<double> uncertainty_of(const std::optional<Uncertain>& power) {
  return power ? std::optional(with_two_digits(Joules(power->uncertainty)).si()) : std::nullopt;
}

Json device_line(const PowerOptions& options, const DeviceEnergy& device, Seconds length,
                 bool is_total) {
  const BestEnergy& energy = device.energy;
  Json json = {{"domain", device.domain.name()},
               {"method", to_string(energy.method)},
               {"quantity", energy.quantity}};
  if (is_total || options.shows == PowerShows::energy) {
    json["energy_j"] = or_null(energy.energy);
    json["uncertainty_j"] = or_null(uncertainty_of(energy));
  }
  if (is_total) json["mean_w"] = or_null(mean_power(energy, length));
  if (!is_total && options.shows == PowerShows::power) {
    json["power_w"] = or_null(mean_power(energy, length));
    json["uncertainty_w"] = or_null(uncertainty_of(uncertain_power(energy, length)));
  }
  json["unknown_s"] = energy.unknown.count();
  json["coverage"] = or_null(energy.coverage);
  if (is_total || options.shows == PowerShows::energy) {
    json["alternatives"] = json_of(energy.alternatives);
  }
  json["flags"] = json_of(energy.flags);
  return json;
}

/// With the keys of a device; null where there is none.
Json total_json(const PowerOptions& options, const PowerLine& line, bool is_total) {
  const auto total = total_of(options, line);
  if (!total) return nullptr;
  Json json = Json::object();
  if (is_total || options.shows == PowerShows::energy) {
    json["energy_j"] = or_null(total->energy.energy);
    json["uncertainty_j"] = or_null(uncertainty_of(total->energy));
  }
  if (is_total || options.shows == PowerShows::power) {
    json[is_total ? "mean_w" : "power_w"] = total->power ? Json(total->power->value) : Json();
    if (!is_total) json["uncertainty_w"] = or_null(uncertainty_of(total->power));
  }
  json["unknown_s"] = (total->energy.energy ? total->energy.unknown : line.length).count();
  json["is_lower_bound"] = total->is_lower_bound;
  json["flags"] = json_of(total->energy.flags);
  return json;
}

/// An estimate as everywhere, and its mean power.
Json estimate_json(const PowerLine& line) {
  Json json = wattle::json_of(line.estimate);
  if (!line.estimate) return json;
  const auto range = estimated_power(line);
  json["low_w"] = range ? Json(range->low.si()) : Json();
  json["typical_w"] = range ? Json(range->typical.si()) : Json();
  json["high_w"] = range ? Json(range->high.si()) : Json();
  return json;
}

std::string json_of(const PowerOptions& options, const PowerLine& line, bool is_total) {
  Json devices = json_list(line.devices, [&](const DeviceEnergy& device) {
    return device_line(options, device, line.length, is_total);
  });
  const Json json = {
      {"schema", options.shows == PowerShows::power ? "wattle.power/1" : "wattle.energy/1"},
      {"type", is_total ? "total" : "reading"},
      {"time_unix_s", line.time_unix_s},
      {"elapsed_s", line.elapsed.count()},
      {"devices", std::move(devices)},
      {"total", total_json(options, line, is_total)},
      {"estimate", estimate_json(line)}};
  return dumped(json) + "\n";
}

std::string cell(const std::optional<double>& number) {
  return number ? fmt::format("{:.6f}", *number) : "";
}

/// A row of its own, whose measured cells are empty.
std::string estimate_row(const PowerOptions& options, const PowerLine& line) {
  if (!line.estimate) return "";
  std::string cells = ",,";
  if (const auto power = estimated_power(line); power && options.shows == PowerShows::power) {
    cells =
        fmt::format("{:.6f},{:.6f},{:.6f}", power->low.si(), power->typical.si(), power->high.si());
  } else if (const auto& energy = line.estimate->machine;
             energy && options.shows == PowerShows::energy) {
    cells = fmt::format("{:.6f},{:.6f},{:.6f}", energy->low.si(), energy->typical.si(),
                        energy->high.si());
  }
  return fmt::format("{:.6f},{:.6f},estimate,{},,,{:.6f},,{}\n", line.time_unix_s,
                     line.elapsed.count(), line.estimate->method, line.length.count(), cells);
}

std::string csv_of(const PowerOptions& options, const PowerLine& line) {
  std::string rows;
  const char* const no_estimate = line.estimate ? ",,," : "";
  for (const DeviceEnergy& device : line.devices) {
    const BestEnergy& energy = device.energy;
    const bool is_power = options.shows == PowerShows::power;
    const auto power = uncertain_power(energy, line.length);
    const auto number = is_power ? si(mean_power(energy, line.length)) : si(energy.energy);
    const auto error = is_power ? uncertainty_of(power) : uncertainty_of(energy);
    const std::string value = cell(number) + "," + cell(error);
    rows += fmt::format("{:.6f},{:.6f},{},{},{},{:.6f},{}{}\n", line.time_unix_s,
                        line.elapsed.count(), device.domain.name(), energy.quantity, value,
                        energy.unknown.count(), flags_text(energy.flags, " "), no_estimate);
  }
  return rows + estimate_row(options, line);
}

const char* csv_header(const PowerOptions& options, bool has_estimate) {
  if (options.shows == PowerShows::power) {
    return has_estimate
               ? "time_unix_s,elapsed_s,domain,quantity,power_w,uncertainty_w,unknown_s,flags,"
                 "estimate_low_w,estimate_typical_w,estimate_high_w\n"
               : "time_unix_s,elapsed_s,domain,quantity,power_w,uncertainty_w,unknown_s,flags\n";
  }
  return has_estimate
             ? "time_unix_s,elapsed_s,domain,quantity,energy_j,uncertainty_j,unknown_s,flags,"
               "estimate_low_j,estimate_typical_j,estimate_high_j\n"
             : "time_unix_s,elapsed_s,domain,quantity,energy_j,uncertainty_j,unknown_s,flags\n";
}

}  // namespace

std::optional<ServerPowerRange> estimated_power(const PowerLine& line) noexcept {
  if (!line.estimate || !line.estimate->machine || line.length <= Seconds(0)) return std::nullopt;
  const EnergyRange& energy = *line.estimate->machine;
  return ServerPowerRange{energy.low / line.length, energy.typical / line.length,
                          energy.high / line.length};
}

std::string header_of(const PowerOptions& options, const PowerLine& first, const TextStyle& style) {
  if (options.format == PowerFormat::json) return "";
  if (options.format == PowerFormat::csv) {
    return csv_header(options, first.estimate.has_value());
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
