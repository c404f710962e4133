#include "stream/stream_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "output/energy_words.hpp"
#include "output/screen.hpp"
#include "stream/short_names.hpp"
#include "stream/stream_sum.hpp"

namespace wattle::app {
namespace {

/// Fewest columns for a server's name beside its rows; with less room it is above them.
constexpr std::size_t kLeastServerWidth = 24;
constexpr std::size_t kLeastDeviceWidth = 9;
constexpr std::size_t kPowerWidth = 10;
constexpr std::size_t kEnergyWidth = 20;

/// The order of a table: by the names as they came, or by power.
std::vector<StreamedServer> ordered(const StreamedPower& power, StreamOrder order) {
  std::vector<StreamedServer> servers = power.servers;
  if (order == StreamOrder::name) return servers;
  const auto watts = [](const StreamedDevice& device) { return device.power_w.value_or(-1.0); };
  for (StreamedServer& server : servers) {
    std::ranges::stable_sort(server.devices, std::greater(), watts);
  }
  std::ranges::stable_sort(servers, std::greater(), [&](const StreamedServer& server) {
    return sum_of({&server, 1}, power.elapsed).power_w.value_or(-1.0);
  });
  return servers;
}

/// A row of a table: numbers of a device, or a sum; or only a remark, such as what is wrong.
struct StreamRow {
  std::string device{};
  std::vector<std::string> numbers{};
  std::string remark{};
};

struct ServerTable {
  std::string server;
  std::vector<StreamRow> rows;
};

/// How a table writes a device and a sum.
struct Writer {
  std::vector<std::string> titles;
  std::function<StreamRow(const StreamedServer&, const StreamedDevice&)> device;
  std::function<StreamRow(const StreamSum&)> sum;
};

std::vector<ServerTable> blocks_of(const StreamedPower& power, const StreamTable& table,
                                   const Writer& writer) {
  std::vector<ServerTable> blocks;
  const std::vector<StreamedServer> servers = ordered(power, table.order);
  for (const StreamedServer& server : servers) {
    ServerTable block{.server = printable(server.endpoint), .rows = {}};
    for (const StreamedDevice& device : server.devices) {
      if (!table.by_node) block.rows.push_back(writer.device(server, device));
    }
    const std::size_t devices = server.devices.size();
    const bool is_summed = table.by_node ? devices > 0 : devices > 1 && servers.size() > 1;
    if (is_summed) {
      block.rows.push_back(writer.sum(sum_of({&server, 1}, power.elapsed)));
      block.rows.back().device = "total";
    }
    for (std::string& trouble : troubles_of(server)) {
      block.rows.push_back({.remark = std::move(trouble)});
    }
    if (block.rows.empty()) block.rows.push_back({.remark = "nothing yet"});
    blocks.push_back(std::move(block));
  }
  std::size_t devices = 0;
  for (const StreamedServer& server : servers) devices += server.devices.size();
  if (devices > 1) {
    StreamRow row = writer.sum(sum_of(servers, power.elapsed));
    if (servers.size() == 1) {
      row.device = "total";
      blocks.front().rows.push_back(std::move(row));
    } else {
      blocks.push_back({.server = "all", .rows = {std::move(row)}});
    }
  }
  return blocks;
}

/// The widths of the columns after the servers' names.
struct Widths {
  std::size_t device = kLeastDeviceWidth;
  std::vector<std::size_t> numbers{};

  /// With the space in front of each.
  [[nodiscard]] std::size_t sum() const {
    std::size_t all = 2 + device;
    for (const std::size_t width : numbers) all += width + 2;
    return all;
  }
};

/// Each column is as wide as its title or its widest cell.
Widths widths_of(const std::vector<ServerTable>& blocks, const std::vector<std::string>& titles) {
  Widths widths;
  widths.numbers.reserve(titles.size());
  for (const std::string& title : titles) widths.numbers.push_back(columns_of(title));
  for (const ServerTable& block : blocks) {
    for (const StreamRow& row : block.rows) {
      widths.device = std::max(widths.device, columns_of(row.device));
      for (std::size_t i = 0; i < row.numbers.size(); ++i) {
        widths.numbers[i] = std::max(widths.numbers[i], columns_of(row.numbers[i]));
      }
    }
  }
  return widths;
}

/// Shortens the names of servers to at most `width` columns.
void shorten_servers(std::vector<ServerTable>& blocks, std::size_t width, const TextStyle& style) {
  std::vector<std::string> names;
  names.reserve(blocks.size());
  for (const ServerTable& block : blocks) names.push_back(to_style_characters(block.server, style));
  names = short_names(names, width, to_style_characters("…", style));
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].server = std::move(names[i]);
}

/// The place of a server's name: beside its rows, or above them if there is no room.
struct ServerPlace {
  std::size_t width = 0;
  bool beside = true;
};

ServerPlace place_of(const std::vector<ServerTable>& blocks, const Widths& widths,
                     const TextStyle& style) {
  ServerPlace place{.width = std::string_view("server").size()};
  for (const ServerTable& block : blocks)
    place.width = std::max(place.width, columns_of(block.server));
  if (style.width == 0) return place;
  const std::size_t others = widths.sum();
  place.beside = std::min(place.width, kLeastServerWidth) + others <= style.width;
  place.width = std::min(place.width, style.width - (place.beside ? others : 0));
  return place;
}

std::string text_of(std::vector<ServerTable> blocks, const std::vector<std::string>& titles,
                    const TextStyle& style) {
  const Widths widths = widths_of(blocks, titles);
  const ServerPlace place = place_of(blocks, widths, style);
  if (style.width != 0) shorten_servers(blocks, place.width, style);
  std::string text;
  const auto line = [&](std::string_view server, std::string_view device,
                        const std::vector<std::string>& cells, std::string_view remark) {
    const std::string first = place.beside ? fmt::format("{:<{}}  ", server, place.width) : "  ";
    std::string row = first;
    if (!cells.empty() || !device.empty()) {
      row += fmt::format("{:<{}}", device, widths.device);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        row += std::string(2 + widths.numbers[i] - columns_of(cells[i]), ' ') + cells[i];
      }
      // Below the numbers where there is no room beside them.
      const bool has_room =
          style.width == 0 || columns_of(row) + 2 + columns_of(remark) <= style.width;
      if (!remark.empty()) row += has_room ? "  " : "\n" + std::string(columns_of(first) + 2, ' ');
    }
    row += remark;
    row.erase(row.find_last_not_of(' ') + 1);
    text += wrapped(row, style, columns_of(first) + 2) + "\n";
  };
  line("server", "device", titles, "");
  text = colored(text.substr(0, text.size() - 1), Tint::dim, style) + "\n";
  for (const ServerTable& block : blocks) {
    if (!place.beside) text += colored(block.server, Tint::bold, style) + "\n";
    std::string_view server = block.server;
    for (const StreamRow& row : block.rows) {
      line(std::exchange(server, ""), row.device, row.numbers, row.remark);
    }
  }
  return text;
}

/// A title at the right of its column.
std::string title(std::string_view text, std::size_t width) {
  return fmt::format("{:>{}}", text, width);
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", part);
  }
  return text;
}

std::string unknown_text(const MeasuredEnergy& energy) {
  if (!energy.energy || !is_shown(energy.unknown)) return "";
  return to_text(energy.unknown) + " unknown";
}

std::string energy_text(const MeasuredEnergy& energy) {
  return energy.energy ? to_text(*energy.energy, energy.uncertainty) : std::string(kUnknownCell);
}

Writer powers(const StreamTable& table, const TextStyle& style) {
  Writer writer{.titles = {title("power", kPowerWidth)}, .device = {}, .sum = {}};
  if (table.shows_energy) writer.titles.push_back(title("energy", kEnergyWidth));
  writer.device = [table, style](const StreamedServer& server, const StreamedDevice& device) {
    const bool has_power = device.power_w && is_live(server, device);
    StreamRow row{
        .device = device.domain,
        .numbers = {has_power ? to_text(Watts(*device.power_w)) : std::string(kUnknownCell)},
        .remark = device.reason};
    if (!table.shows_energy) return row;
    const MeasuredEnergy energy = device.energy.value_or(MeasuredEnergy{});
    row.numbers.push_back(to_style_characters(energy_text(energy), style));
    row.remark = joined({unknown_text(energy), flags_text(energy.flags, ", "), device.reason});
    return row;
  };
  writer.sum = [table, style](const StreamSum& sum) {
    const auto cell = [&](bool is_lower_bound, const std::string& number) {
      return to_style_characters(
          (is_lower_bound && number != kUnknownCell ? std::string(kAtLeastCell) : std::string()) +
              number,
          style);
    };
    StreamRow row{
        .numbers = {cell(sum.is_power_lower_bound(),
                         sum.power_w ? to_text(Watts(*sum.power_w)) : std::string(kUnknownCell))},
        .remark = missing_text(sum, sum.powers_missing)};
    if (!table.shows_energy) return row;
    row.numbers.push_back(cell(sum.is_energy_lower_bound(), energy_text(sum.energy)));
    row.remark = joined({unknown_text(sum.energy), flags_text(sum.energy.flags, ", "), row.remark});
    return row;
  };
  return writer;
}

/// At first only a bound far above the energy is known: it is left out of tables.
StreamedPower without_bounds(StreamedPower power) {
  for (StreamedServer& server : power.servers) {
    for (StreamedDevice& device : server.devices) {
      if (device.energy && device.energy->flags.has(Flag::short_window)) device.energy.reset();
    }
  }
  return power;
}

/// A mean power has two digits at least, however large its uncertainty is: by them a constant power
/// is recognized, and the energy beside it has its ±.
Uncertain shown_mean(Uncertain mean) {
  constexpr double kTwoDigits = 0.1;
  mean.uncertainty = std::min(mean.uncertainty, kTwoDigits * std::abs(mean.value));
  return mean;
}

/// The most that the uncertainty of a mean power may count as, so that the means of each server,
/// and of all, add up as they are shown.
double mean_limit(const StreamedPower& total) {
  double limit = std::numeric_limits<double>::infinity();
  std::vector<Uncertain> all;
  const auto add = [&](std::span<const StreamedServer> servers, std::span<const Uncertain> means) {
    const auto sum = sum_of(servers, total.elapsed).mean;
    if (!sum || means.size() < 2) return;
    limit = std::min(limit, limit_that_adds_up(shown_mean(*sum), means));
  };
  for (const StreamedServer& server : total.servers) {
    const std::size_t before = all.size();
    for (const StreamedDevice& device : server.devices) {
      const auto mean = uncertain_power(device.energy.value_or(MeasuredEnergy{}), total.elapsed);
      if (mean) all.push_back(shown_mean(*mean));
    }
    add({&server, 1}, std::span(all).subspan(before));
  }
  add(total.servers, all);
  return limit;
}

/// A mean power has no digit that its energy's uncertainty does not support, which counts as
/// `limit` if it is larger.
std::string mean_text(const std::optional<Uncertain>& mean, double limit) {
  if (!mean) return std::string(kUnknownCell);
  const double uncertainty = std::min(shown_mean(*mean).uncertainty, limit);
  return rounded_text(Watts(mean->value), Watts(uncertainty));
}

Writer energies(const StreamedPower& total, const TextStyle& style) {
  Writer writer{.titles = {title("energy", kEnergyWidth), title("mean", kPowerWidth)},
                .device = {},
                .sum = {}};
  const double limit = mean_limit(total);
  const Seconds elapsed = total.elapsed;
  writer.device = [elapsed, style, limit](const StreamedServer&, const StreamedDevice& device) {
    const MeasuredEnergy energy = device.energy.value_or(MeasuredEnergy{});
    StreamRow row{
        .device = device.domain,
        .numbers = {to_style_characters(energy_text(energy), style),
                    mean_text(uncertain_power(energy, elapsed), limit)},
        .remark = joined({unknown_text(energy), flags_text(energy.flags, ", "), device.reason})};
    return row;
  };
  writer.sum = [style, limit](const StreamSum& sum) {
    const bool is_lower_bound = sum.energy.energy && sum.is_energy_lower_bound();
    return StreamRow{
        .numbers = {to_style_characters(
                        fmt::format("{}{}", is_lower_bound ? kAtLeastCell : std::string_view(),
                                    energy_text(sum.energy)),
                        style),
                    mean_text(sum.mean, limit)},
        .remark = joined({unknown_text(sum.energy), flags_text(sum.energy.flags, ", "),
                          missing_text(sum, sum.energies_missing)})};
  };
  return writer;
}

}  // namespace

std::string table_of(const StreamedPower& power, const StreamTable& table, const TextStyle& style,
                     std::size_t height) {
  const Writer writer = powers(table, style);
  const std::string whole =
      text_of(blocks_of(without_bounds(power), table, writer), writer.titles, style);
  return fitted(whole, style, height);
}

std::string totals_of(const StreamedPower& total, const StreamTable& table,
                      const TextStyle& style) {
  const Writer writer = energies(total, style);
  return wrapped(
             fmt::format("in {}; ± is the sampling error only (95 %):\n", to_text(total.elapsed)),
             style) +
         text_of(blocks_of(total, table, writer), writer.titles, style);
}

}  // namespace wattle::app
