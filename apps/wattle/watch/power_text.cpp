#include "watch/power_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/quantity.hpp"
#include "base/text/unknown.hpp"
#include "output/energy_words.hpp"
#include "output/screen.hpp"
#include "report/estimate_words.hpp"
#include "sampling/energy_figure.hpp"
#include "sampling/energy_sum.hpp"
#include "sensors/refusals.hpp"

namespace wattle::app {
namespace {

constexpr std::size_t kTimeWidth = 12;
/// The longest name of a quantity and a gap.
constexpr std::size_t kLeastValueWidth = 16;

/// A column of a row for each device has room for the longest of their names.
std::size_t value_width(const PowerLine& line) {
  std::size_t widest = kLeastValueWidth;
  for (const DeviceEnergy& device : line.devices) {
    widest = std::max(widest, device.domain.name().size() + 2);
  }
  return widest;
}

/// A cell: a power, or an energy.
struct PowerCell {
  std::optional<Uncertain> number;
  bool is_lower_bound = false;
};

/// The power of a part of the time is no lower bound of a mean.
PowerCell shown(const PowerOptions& options, const MeasuredEnergy& energy, Seconds length) {
  if (options.shows == PowerShows::power) return {uncertain_power(energy, length)};
  if (!energy.energy) return {};
  return {Uncertain{energy.energy->si(), energy.uncertainty.si()}, is_lower_bound(energy, length)};
}

/// No digit that the uncertainty does not support, which counts as `limit` if it is larger.
std::string number_text(PowerShows shows, const std::optional<Uncertain>& number, double limit) {
  if (!number) return std::string(kUnknownCell);
  const double uncertainty = std::min(number->uncertainty, limit);
  return shows == PowerShows::power ? rounded_text(Watts(number->value), Watts(uncertainty))
                                    : rounded_text(Joules(number->value), Joules(uncertainty));
}

/// "1.7 W": the two digits that mean something.
std::string uncertainty_text(PowerShows shows, double uncertainty) {
  const double rounded = with_two_digits(Joules(uncertainty)).si();
  return shows == PowerShows::power ? rounded_text(Watts(rounded), Watts(rounded / 10.0))
                                    : rounded_text(Joules(rounded), Joules(rounded / 10.0));
}

/// The quantity below a device's name, which is shown if not all are the same.
std::string_view quantity_of(const PowerOptions& options, const DeviceEnergy& device) {
  const bool is_gpu = device.domain.category() == DomainCategory::gpu;
  if (is_gpu && options.gpu_domain) return to_string(*options.gpu_domain);
  // The power of a module is not the power of the GPU, whose name is above it.
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

/// The total, if there is one, and the devices that it adds up.
std::vector<std::string> cells_of(const PowerOptions& options, const PowerLine& line) {
  std::vector<PowerCell> cells;
  std::vector<Uncertain> parts;
  bool lacks_part = false;
  for (const DeviceEnergy& device : line.devices) {
    cells.push_back(shown(options, device.energy, line.length));
    const PowerCell& cell = cells.back();
    if (is_apart(device)) continue;
    if (cell.number) parts.push_back(*cell.number);
    lacks_part = lacks_part || !cell.number || cell.is_lower_bound;
  }
  double limit = std::numeric_limits<double>::infinity();
  if (const auto total = total_of(options, line)) {
    const PowerCell sum{options.shows == PowerShows::power
                            ? total->power
                            : shown(options, total->energy, line.length).number,
                        lacks_part};
    if (sum.number) limit = limit_that_adds_up(*sum.number, parts);
    cells.insert(cells.begin(), sum);
  }
  std::vector<std::string> texts;
  for (const PowerCell& cell : cells) {
    const std::string mark(cell.number && cell.is_lower_bound ? kAtLeastCell : "");
    texts.push_back(mark + number_text(options.shows, cell.number, limit));
  }
  return texts;
}

/// Cells at the right of their columns, as many in a line as there is room for; without its end.
std::string folded(std::string_view first, const std::vector<std::string>& cells, std::size_t width,
                   const TextStyle& style) {
  std::size_t most = cells.size();
  if (style.width != 0) {
    most = std::max<std::size_t>(1, (style.width - std::min(style.width, kTimeWidth)) / width);
  }
  std::string text = fmt::format("{:>{}}", first, kTimeWidth);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && i % most == 0) text += fmt::format("\n{:>{}}", "", kTimeWidth);
    text += fmt::format("{:>{}}", to_style_characters(cells[i], style), width);
  }
  return text;
}

constexpr const char* kDoubtTitle = "± and flags";

/// "±1.7 W": of the total, or of the only device; empty where there is none.
std::string error_of(const PowerOptions& options, const PowerLine& line) {
  std::optional<Uncertain> number;
  if (const auto total = total_of(options, line)) {
    number = options.shows == PowerShows::power ? total->power
                                                : shown(options, total->energy, line.length).number;
  } else if (line.devices.size() == 1) {
    number = shown(options, line.devices.front().energy, line.length).number;
  }
  if (!number || number->uncertainty <= 0.0) return "";
  return "±" + uncertainty_text(options.shows, number->uncertainty);
}

/// "±1.7 W, gap": with the flags of all devices.
std::string doubt_of(const PowerOptions& options, const PowerLine& line) {
  Flags flags;
  for (const DeviceEnergy& device : line.devices) flags |= device.energy.flags;
  std::string error = error_of(options, line);
  if (flags.none()) return error;
  return error + (error.empty() ? "" : ", ") + flags_text(flags, ", ");
}

constexpr const char* kEstimateTitle = "estimate, not measured";

/// "~46 W (17 W to 210 W)".
std::string estimate_cell(const PowerOptions& options, const PowerLine& line) {
  if (options.shows == PowerShows::energy) {
    return line.estimate->machine ? range_text(*line.estimate->machine) : std::string(kUnknownCell);
  }
  const auto power = estimated_power(line);
  return power ? range_text(power->low, power->typical, power->high) : std::string(kUnknownCell);
}

/// `text`, a line without its end, and `cell` after it: wider than the others, below them where
/// the terminal is narrow.
std::string with_last(std::string text, const std::string& cell, const TextStyle& style) {
  if (cell.empty()) return text;
  const std::string last = to_style_characters(cell, style);
  const std::size_t used = columns_of(text.substr(text.rfind('\n') + 1));
  const bool fits = style.width == 0 || used + 2 + columns_of(last) <= style.width;
  return text + (fits ? "" : "\n" + std::string(kTimeWidth, ' ')) + "  " + last;
}

/// The words after an energy's numbers.
std::string remarks(const MeasuredEnergy& energy) {
  std::string text;
  if (energy.energy && energy.unknown > Seconds(0)) {
    text = fmt::format("{} unknown", to_text(energy.unknown));
  }
  if (energy.flags.none()) return text;
  return text + (text.empty() ? "" : ", ") + flags_text(energy.flags, ", ");
}

/// Lines: the parts that the total lacks, one per reason.
std::string missing_text(const PowerLine& total) {
  std::vector<SensorRefusal> missing;
  for (const DeviceEnergy& device : total.devices) {
    if (is_apart(device) || device.energy.energy) continue;
    missing.push_back(
        {.subject = device.domain.name(), .reason = std::string(why_unknown(device.energy.flags))});
  }
  std::string text;
  for (const SharedCause& cause : by_cause(missing)) {
    text += fmt::format("not in the total: {}\n", cause_text(cause));
  }
  return text;
}

std::vector<Uncertain> powers_of(const PowerLine& line) {
  std::vector<Uncertain> powers;
  for (const DeviceEnergy& device : line.devices) {
    const auto power = uncertain_power(device.energy, line.length);
    if (power && !is_apart(device)) powers.push_back(*power);
  }
  return powers;
}

std::string energy_text(const std::optional<Joules>& energy, Joules uncertainty) {
  return energy ? to_text(*energy, uncertainty) : std::string(kUnknownCell);
}

/// Totals of more rows are without other ways to an energy: --json has them.
constexpr std::size_t kMostRows = 18;

/// The number of rows of all devices, and of other ways to their energy.
std::size_t rows_of(const PowerLine& total) {
  std::size_t rows = total.devices.size();
  for (const DeviceEnergy& device : total.devices) rows += device.energy.alternatives.size();
  return rows;
}

}  // namespace

std::optional<PowerTotal> total_of(const PowerOptions& options, const PowerLine& line) {
  if (!has_total(options, line)) return std::nullopt;
  PowerTotal total;
  EnergySum sum(Seconds(0));
  MeanPowerSum power;
  for (const DeviceEnergy& device : line.devices) {
    if (is_apart(device)) continue;
    power.add(device.energy, line.length);
    if (device.energy.energy) sum.add(device.energy);
    total.is_lower_bound |= !device.energy.energy || device.energy.unknown > Seconds(0);
  }
  total.power = power.result();
  total.energy = sum.result();
  return total;
}

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
  const std::size_t width = value_width(first);
  std::string header = with_last(folded("elapsed", names, width, style), kDoubtTitle, style);
  if (first.estimate) header = with_last(std::move(header), kEstimateTitle, style);
  header += "\n";
  // A row of one word says nothing that the command does not say.
  const bool is_usual = std::ranges::count(quantities, usual) == std::ssize(quantities);
  return colored(is_usual ? header : header + folded("", quantities, width, style) + "\n",
                 Tint::dim, style);
}

std::string power_row(const PowerOptions& options, const PowerLine& line, const TextStyle& style) {
  std::string row =
      folded(to_text(line.elapsed), cells_of(options, line), value_width(line), style);
  row = with_last(std::move(row), doubt_of(options, line), style);
  if (line.estimate) row = with_last(std::move(row), estimate_cell(options, line), style);
  return row + "\n";
}

std::string power_table(const PowerOptions& options, const PowerLine& line, const TextStyle& style,
                        std::size_t height) {
  const std::string usual = options.shows == PowerShows::power ? "power" : "energy";
  const bool is_usual = std::ranges::all_of(line.devices, [&](const DeviceEnergy& device) {
    return quantity_of(options, device) == usual;
  });
  TextTable table({Align::left, Align::right, Align::left, Align::left}, style, 0);
  table.add({"device", usual, kDoubtTitle, is_usual ? "" : "quantity"}, true);
  const std::vector<std::string> cells = cells_of(options, line);
  const std::size_t totals = cells.size() - line.devices.size();
  for (std::size_t i = 0; i < line.devices.size(); ++i) {
    const DeviceEnergy& device = line.devices[i];
    const PowerLine alone{.length = line.length, .devices = {device}};
    table.add({device.domain.name(), cells[totals + i], doubt_of(options, alone),
               is_usual ? "" : std::string(quantity_of(options, device))});
  }
  if (totals > 0) table.add({"total", cells.front(), error_of(options, line), ""});
  const std::string title = fmt::format("in {}; Ctrl-C ends it\n", to_text(line.elapsed));
  std::string estimate;
  if (line.estimate) {
    estimate =
        wrapped(fmt::format("{}: {}\n", kEstimateTitle, estimate_cell(options, line)), style);
  }
  const auto kept = totals + static_cast<std::size_t>(std::ranges::count(estimate, '\n'));
  return fitted(colored(title.substr(0, title.size() - 1), Tint::dim, style) + "\n" +
                    (line.devices.empty() ? "" : table.text()) + estimate,
                style, height, kept);
}

std::string power_totals(const PowerOptions& options, const PowerLine& total,
                         const TextStyle& style) {
  TextTable table({Align::left, Align::left, Align::right, Align::right, Align::left}, style, 0);
  const std::optional<PowerTotal> sum = total_of(options, total);
  const double limit = sum && sum->power ? limit_that_adds_up(*sum->power, powers_of(total))
                                         : std::numeric_limits<double>::infinity();
  const bool has_room = rows_of(total) <= kMostRows;
  const auto power_text = [&](const std::optional<Uncertain>& power) {
    return power ? number_text(PowerShows::power, power, limit) : "";
  };
  for (const DeviceEnergy& device : total.devices) {
    const BestEnergy& energy = device.energy;
    table.add({device.domain.name(), std::string(energy.quantity),
               energy_text(energy.energy, energy.uncertainty),
               power_text(uncertain_power(energy, total.length)), remarks(energy)});
    if (!has_room) continue;
    for (const AlternativeEnergy& other : energy.alternatives) {
      table.add({"  or by", std::string(other.quantity),
                 energy_text(other.energy, other.uncertainty), "", flags_text(other.flags, ", ")},
                true);
    }
  }
  if (sum) {
    MeasuredEnergy energy = sum->energy;
    energy.flags = {};  // the devices have them
    const bool is_bound = energy.energy && sum->is_lower_bound;
    table.add(
        {"total", "",
         std::string(is_bound ? kAtLeastCell : "") + energy_text(energy.energy, energy.uncertainty),
         power_text(sum->power), remarks(energy)});
  }
  const std::string headline =
      fmt::format("\nin {}{}:\n", to_text(total.elapsed),
                  total.devices.empty() ? "" : "; ± is the sampling error only (95 %)");
  std::string text = wrapped(headline, style) + table.text();
  if (sum) text += wrapped(missing_text(total), style);
  if (!total.estimate) return text;
  for (const std::string& line : words_of(*total.estimate)) text += wrapped(line, style) + "\n";
  return text;
}

}  // namespace wattle::app
