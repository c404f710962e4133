#include "top/device_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text/unknown.hpp"
#include "output/energy_words.hpp"
#include "sampling/energy_figure.hpp"
#include "top/columns.hpp"

namespace wattle::app {
namespace {

std::string percent_cell(const std::optional<double>& percent) {
  return percent ? fmt::format("{:.0f} %", *percent) : std::string(kUnknownCell);
}

std::string bytes_cell(const std::optional<double>& bytes) {
  constexpr double kMost = 1e18;
  if (!bytes || !(*bytes >= 0.0)) return std::string(kUnknownCell);
  return bytes_to_text(static_cast<std::uint64_t>(std::min(*bytes, kMost)));
}

std::string memory_cell(const TopDevice& device) {
  if (!device.memory_used_bytes) return std::string(kUnknownCell);
  if (!device.memory_total_bytes) return bytes_cell(device.memory_used_bytes);
  return bytes_cell(device.memory_used_bytes) + " of " + bytes_cell(device.memory_total_bytes);
}

/// The flags, and why the power is not known.
std::string device_remarks(const TopDevice& device) {
  std::string text = flags_text(device.energy.flags, ",");
  if (device.power) return text;
  const std::string reason = device.reason.empty() && !device.energy.energy
                                 ? std::string(why_unknown(device.energy.flags))
                                 : std::string(device.reason);
  return text + (text.empty() || reason.empty() ? "" : ": ") + reason;
}

std::string device_name(const TopDevice& device) {
  return device.machine.empty() ? std::string(device.name) : device.machine + " " + device.name;
}

/// The uncertainty that a power may have so that the printed ones add up to the printed total.
double shown_limit(const TopObservation& seen, const std::optional<TopTotal>& total) {
  if (!total || !total->power) return std::numeric_limits<double>::infinity();
  std::vector<Uncertain> parts;
  for (const TopDevice& device : seen.devices) {
    if (device.is_counted && device.power) parts.push_back(*device.power);
  }
  return limit_that_adds_up(*total->power, parts);
}

/// A column, and how it gets a cell from a device.
template <class Cell>
TableColumn device_column(std::string name, unsigned rank,
                          const std::vector<const TopDevice*>& devices, const Cell& cell) {
  TableColumn made{.name = std::move(name), .rank = rank};
  made.cells.reserve(devices.size());
  for (const TopDevice* device : devices) made.cells.push_back(cell(*device));
  return made;
}

bool is_useful_column(const TableColumn& column) {
  return std::ranges::any_of(
      column.cells, [](const std::string& cell) { return !cell.empty() && cell != kUnknownCell; });
}

/// The ranks of columns of devices: those of a low rank stay longest.
constexpr unsigned kDeviceName = 0;
constexpr unsigned kDevicePower = 1;
constexpr unsigned kDeviceEnergy = 2;
constexpr unsigned kDeviceFlags = 3;
constexpr unsigned kDeviceUsed = 4;
constexpr unsigned kDevicePlot = 5;
constexpr unsigned kDeviceHeat = 6;
constexpr unsigned kDeviceMemory = 7;
constexpr unsigned kDeviceLimit = 8;
constexpr unsigned kDeviceModel = 9;
constexpr std::size_t kLeastPlot = 8;

/// The total's cell in a column of this rank.
template <class Power>
std::string total_cell(unsigned rank, const TopTotal& total, const Power& power, Seconds elapsed,
                       const TopUnit& unit) {
  const std::string mark(total.is_lower_bound ? kAtLeastCell : "");
  switch (rank) {
    case kDeviceName:
      return "total";
    case kDevicePower:
      return total.power ? mark + power(total.power) : power(total.power);
    case kDeviceEnergy:
      return energy_text(total.energy, elapsed, unit);
    case kDeviceFlags:
      return flags_text(total.energy.flags, ",");
    default:
      return {};
  }
}

std::vector<TableColumn> device_columns(const std::vector<const TopDevice*>& devices,
                                        const std::optional<TopTotal>& total, double limit,
                                        const PowerTrails& trails, const TopUnit& unit,
                                        Seconds elapsed) {
  const auto power = [&](std::optional<Uncertain> number) {
    if (number) number->uncertainty = std::min(number->uncertainty, limit);
    return power_text(number, unit);
  };
  std::vector<TableColumn> all;
  all.push_back(device_column("device", kDeviceName, devices, device_name));
  all.back().least = devices.empty() || devices.front()->machine.empty() ? 9 : 24;
  all.push_back(device_column("power", kDevicePower, devices,
                              [&](const TopDevice& device) { return power(device.power); }));
  all.push_back(device_column("trend", kDevicePlot, devices, [&](const TopDevice& device) {
    return trails.plot(PowerTrails::key_of(device));
  }));
  all.back().least = kLeastPlot;
  all.push_back(device_column("energy", kDeviceEnergy, devices, [&](const TopDevice& device) {
    return energy_text(device.energy, elapsed, unit);
  }));
  all.push_back(device_column("used", kDeviceUsed, devices, [](const TopDevice& device) {
    return percent_cell(device.utilization_percent);
  }));
  all.push_back(device_column("memory", kDeviceMemory, devices, memory_cell));
  all.push_back(device_column("temp", kDeviceHeat, devices, [](const TopDevice& device) {
    return device.temperature_celsius ? fmt::format("{:.0f} °C", *device.temperature_celsius)
                                      : std::string(kUnknownCell);
  }));
  all.push_back(device_column("limit", kDeviceLimit, devices, [](const TopDevice& device) {
    return device.limit_w ? to_text(Watts(*device.limit_w)) : std::string(kUnknownCell);
  }));
  all.push_back(device_column("flags", kDeviceFlags, devices, device_remarks));
  all.back().least = kLeastPlot;
  all.push_back(device_column("model", kDeviceModel, devices,
                              [](const TopDevice& device) { return device.model; }));
  for (TableColumn& it : all) {
    if (it.rank == kDeviceName || it.rank >= kDeviceModel || it.rank == kDeviceFlags)
      it.align = Align::left;
  }
  std::erase_if(
      all, [](const TableColumn& it) { return it.rank > kDeviceEnergy && !is_useful_column(it); });
  if (!total) return all;
  for (TableColumn& it : all) {
    it.cells.push_back(total_cell(it.rank, *total, power, elapsed, unit));
  }
  return all;
}

/// A plot grows from its right end: the newest power is there.
void cut_plots(std::vector<TableColumn>& columns, std::size_t width) {
  for (const TableLines::ColumnPlace& place : lay_out(columns, width).places) {
    TableColumn& column = columns[place.column];
    if (column.rank != kDevicePlot) continue;
    for (std::string& cell : column.cells) {
      const std::size_t wide = columns_of(cell);
      if (wide <= place.to - place.from) continue;
      const std::string start = cut(cell, wide - (place.to - place.from));
      cell.erase(0, start.size());
    }
  }
}

}  // namespace

void PowerTrails::add(const TopObservation& seen) {
  std::map<std::string, std::deque<std::optional<double>>> kept;
  for (const TopDevice& device : seen.devices) {
    const std::string key = key_of(device);
    auto& trail = kept[key];
    if (const auto before = trails_.find(key); before != trails_.end()) {
      trail = std::move(before->second);
    }
    trail.push_back(device.power ? std::optional(device.power->value) : std::nullopt);
    if (trail.size() > kMost) trail.pop_front();
  }
  trails_ = std::move(kept);  // devices that are gone leave nothing
}

std::string PowerTrails::plot(const std::string& key, std::size_t width) const {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kHighest = kBlocks.size() - 1;
  const auto found = trails_.find(key);
  if (found == trails_.end()) return {};
  const auto& trail = found->second;
  const std::size_t shown = std::min(width, trail.size());
  double top = 0.0;
  for (std::size_t i = trail.size() - shown; i < trail.size(); ++i) {
    top = std::max(top, trail[i].value_or(0.0));
  }
  std::string text(width - shown, ' ');
  for (std::size_t i = trail.size() - shown; i < trail.size(); ++i) {
    if (!trail[i]) {
      text += ' ';
    } else {
      const double part = top > 0.0 ? std::clamp(*trail[i] / top, 0.0, 1.0) : 0.0;
      text += kBlocks.at(static_cast<std::size_t>(std::lround(part * kHighest)));
    }
  }
  return text;
}

std::vector<std::string> device_lines(const TopObservation& seen, const PowerTrails& trails,
                                      const TopUnit& unit, std::size_t width, std::size_t most,
                                      const TextStyle& style) {
  if (seen.devices.empty() || most == 0) return {};
  const auto counted = std::ranges::count_if(seen.devices, &TopDevice::is_counted);
  std::optional<TopTotal> total = total_of(seen);
  const double limit = shown_limit(seen, total);
  const bool lacks_machine = total && total->is_lower_bound && !seen.machines.empty();
  if (counted < 2 && !lacks_machine) total.reset();
  const std::size_t fixed = 1 + (total ? 1 : 0);
  const std::size_t room = most - std::min(most, fixed);
  const bool fits = seen.devices.size() <= room;
  const std::size_t shown = fits ? seen.devices.size() : room - std::min<std::size_t>(room, 1);
  std::vector<const TopDevice*> devices;
  devices.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) devices.push_back(&seen.devices[i]);
  std::vector<TableColumn> columns =
      device_columns(devices, total, limit, trails, unit, seen.elapsed);
  cut_plots(columns, width);
  for (TableColumn& column : columns) {
    for (std::string& cell : column.cells) cell = to_style_characters(cell, style);
  }
  TableLines table = lay_out(columns, width);
  std::vector<std::string> lines = {colored(table.names, Tint::dim, style)};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool is_total = i >= devices.size();
    if (is_total && !fits) {
      lines.push_back(cut(fmt::format("... {} more", seen.devices.size() - shown), width));
    }
    const bool is_bad = !is_total && !devices[i]->power;
    lines.push_back(is_total ? colored(table.rows[i], Tint::bold, style)
                             : (is_bad ? colored(table.rows[i], Tint::bad, style) : table.rows[i]));
  }
  if (!total && !fits) {
    lines.push_back(cut(fmt::format("... {} more", seen.devices.size() - shown), width));
  }
  if (lines.size() > most) lines.resize(most);
  return lines;
}

}  // namespace wattle::app
