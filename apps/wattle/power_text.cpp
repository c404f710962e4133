#include "power_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "energy_words.hpp"
#include "report/estimate_words.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {
namespace {

constexpr std::size_t kTimeWidth = 12;
/// The longest name of a quantity and a gap.
constexpr std::size_t kValueWidth = 16;

/// No digit that the energy's uncertainty does not support.
std::string power_text(const MeasuredEnergy& energy, Seconds length) {
  const auto power = mean_power(energy, length);
  return power ? rounded_text(*power, energy.uncertainty / (length - energy.unknown)) : "-";
}

std::string value_text(const PowerOptions& options, const MeasuredEnergy& energy, Seconds length) {
  if (options.shows == PowerShows::power) return power_text(energy, length);
  return energy.energy ? rounded_text(*energy.energy, energy.uncertainty) : "-";
}

/// What stands below a device's name, where not all say the same.
std::string_view quantity_of(const PowerOptions& options, const DeviceEnergy& device) {
  const bool is_gpu = device.domain.category() == DomainCategory::gpu;
  if (is_gpu && options.gpu_domain) return to_string(*options.gpu_domain);
  // The power of a module is not the GPU's, whose name stands above it.
  const std::string_view quantity = device.energy.quantity;
  if (quantity.starts_with("module_")) return quantity;
  return options.shows == PowerShows::power ? "power" : "energy";
}

/// False for what is more than a device or less: a module, which holds processors too, and memory.
bool adds_up(const PowerOptions& options, const DeviceEnergy& device) {
  const std::string_view quantity = quantity_of(options, device);
  return counts_in_total(device.domain.kind()) && !quantity.starts_with("module_") &&
         !quantity.starts_with("memory_");
}

/// A device that is part of no total, and says nothing against one of the others.
bool is_apart(const DeviceEnergy& device) {
  return device.domain.category() == DomainCategory::other;
}

/// True if the devices have a total that a reader would otherwise add up.
bool has_total(const PowerOptions& options, const PowerLine& line) {
  return line.devices.size() -
                 static_cast<std::size_t>(std::ranges::count_if(line.devices, is_apart)) >
             1 &&
         std::ranges::all_of(line.devices, [&](const DeviceEnergy& device) {
           return is_apart(device) || adds_up(options, device);
         });
}

/// Of all devices; nothing is known where one of them is not.
MeasuredEnergy sum_of(const PowerLine& line) {
  MeasuredEnergy sum{.energy = Joules(0.0)};
  for (const DeviceEnergy& device : line.devices) {
    if (is_apart(device)) continue;
    if (!device.energy.energy) return {};
    *sum.energy += *device.energy.energy;
    sum.uncertainty += device.energy.uncertainty;
    sum.unknown = std::max(sum.unknown, device.energy.unknown);
  }
  return sum;
}

/// The sum of the mean powers, which can have gaps at different times.
std::string total_power_text(const PowerLine& line) {
  Watts power(0.0);
  Watts uncertainty(0.0);
  for (const DeviceEnergy& device : line.devices) {
    if (is_apart(device)) continue;
    const auto mean = mean_power(device.energy, line.length);
    if (!mean) return "-";
    power += *mean;
    uncertainty += device.energy.uncertainty / (line.length - device.energy.unknown);
  }
  return rounded_text(power, uncertainty);
}

/// Cells at the right of their columns, as many in a line as there is room for; without its end.
std::string folded(std::string_view first, const std::vector<std::string>& cells,
                   const TextStyle& style) {
  std::size_t most = cells.size();
  if (style.width != 0) {
    most =
        std::max<std::size_t>(1, (style.width - std::min(style.width, kTimeWidth)) / kValueWidth);
  }
  std::string text = fmt::format("{:>{}}", first, kTimeWidth);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && i % most == 0) text += fmt::format("\n{:>{}}", "", kTimeWidth);
    text += fmt::format("{:>{}}", cells[i], kValueWidth);
  }
  return text;
}

constexpr const char* kEstimateTitle = "estimate, not measured";

/// "~46 W (17 W to 210 W)".
std::string estimate_cell(const PowerOptions& options, const PowerLine& line) {
  if (options.shows == PowerShows::energy) {
    return line.estimate->machine ? range_text(*line.estimate->machine) : "-";
  }
  const auto power = estimated_power(line);
  return power ? range_text(power->low, power->typical, power->high) : "-";
}

/// `text`, a line without its end, and `cell` after it: wider than the others, below them where
/// the terminal is narrow.
std::string with_estimate(std::string text, const std::string& cell, const TextStyle& style) {
  const std::size_t used = columns_of(text.substr(text.rfind('\n') + 1));
  const bool fits = style.width == 0 || used + 2 + columns_of(cell) <= style.width;
  return text + (fits ? "" : "\n" + std::string(kTimeWidth, ' ')) + "  " + cell;
}

/// What is said of an energy after its numbers.
std::string remarks(const MeasuredEnergy& energy) {
  std::string text;
  if (energy.energy && energy.unknown > Seconds(0)) {
    text = fmt::format("{} unknown", to_text(energy.unknown));
  }
  if (energy.flags.none()) return text;
  return text + (text.empty() ? "" : ", ") + flags_text(energy.flags, ", ");
}

std::string energy_text(const std::optional<Joules>& energy, Joules uncertainty) {
  return energy ? to_text(*energy, uncertainty) : "not known";
}

}  // namespace

std::string power_header(const PowerOptions& options, const PowerLine& first,
                         const TextStyle& style) {
  std::vector<std::string> names;
  std::vector<std::string> quantities;
  const std::string usual = options.shows == PowerShows::power ? "power" : "energy";
  if (has_total(options, first)) {
    names.emplace_back("total");
    quantities.push_back(usual);
  }
  for (const DeviceEnergy& device : first.devices) {
    names.push_back(device.domain.name());
    quantities.emplace_back(quantity_of(options, device));
  }
  std::string header = folded("elapsed", names, style);
  if (first.estimate) header = with_estimate(std::move(header), kEstimateTitle, style);
  header += "\n";
  // A row of one word says nothing that the command does not say.
  const bool is_usual = std::ranges::count(quantities, usual) == std::ssize(quantities);
  return tinted(is_usual ? header : header + folded("", quantities, style) + "\n", Tint::dim,
                style);
}

std::string power_row(const PowerOptions& options, const PowerLine& line, const TextStyle& style) {
  std::vector<std::string> values;
  if (has_total(options, line)) {
    values.push_back(options.shows == PowerShows::power
                         ? total_power_text(line)
                         : value_text(options, sum_of(line), line.length));
  }
  for (const DeviceEnergy& device : line.devices) {
    values.push_back(value_text(options, device.energy, line.length));
  }
  std::string row = folded(to_text(line.elapsed), values, style);
  if (line.estimate) row = with_estimate(std::move(row), estimate_cell(options, line), style);
  return row + "\n";
}

std::string power_totals(const PowerOptions& options, const PowerLine& total,
                         const TextStyle& style) {
  Table table({Align::left, Align::left, Align::right, Align::right, Align::left}, style, 0);
  for (const DeviceEnergy& device : total.devices) {
    const BestEnergy& energy = device.energy;
    table.add({device.domain.name(), std::string(energy.quantity),
               energy_text(energy.energy, energy.uncertainty),
               energy.energy ? power_text(energy, total.length) : "", remarks(energy)});
    for (const AlternativeEnergy& other : energy.alternatives) {
      table.add({"  or by", std::string(other.quantity),
                 energy_text(other.energy, other.uncertainty), "", flags_text(other.flags, ", ")},
                true);
    }
  }
  if (has_total(options, total)) {
    const MeasuredEnergy sum = sum_of(total);
    table.add({"total", "", energy_text(sum.energy, sum.uncertainty),
               sum.energy ? total_power_text(total) : "", remarks(sum)});
  }
  const std::string headline =
      fmt::format("\nin {}{}:\n", to_text(total.elapsed),
                  total.devices.empty() ? "" : ", ± of the sampling (k=2)");
  std::string text = fitted(headline, style) + table.text();
  if (!total.estimate) return text;
  for (const std::string& line : words_of(*total.estimate)) text += fitted(line, style) + "\n";
  return text;
}

}  // namespace wattle::app
