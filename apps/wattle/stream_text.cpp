#include "stream_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/split.hpp"
#include "base/text.hpp"
#include "energy_words.hpp"

namespace wattle::app {
namespace {

constexpr std::size_t kServerWidth = 24;
constexpr std::size_t kDeviceWidth = 9;
constexpr std::size_t kPowerWidth = 10;
constexpr std::size_t kEnergyWidth = 20;

bool is_live(const StreamedServer& server, const StreamedDevice& device) {
  const ConnectionState& state = device.domain.starts_with("gpu_") ? server.gpu : server.cpu;
  return state.status == ConnectionStatus::live;
}

/// The sum of what is known, and how many devices it lacks.
struct Sum {
  std::optional<double> power_w{};
  std::size_t powers_missing = 0;
  MeasuredEnergy energy{};
  Watts mean{};
  std::size_t energies = 0;
  std::size_t energies_missing = 0;

  void add(const StreamedServer& server, Seconds elapsed) {
    for (const StreamedDevice& device : server.devices) {
      if (device.power_w && is_live(server, device)) {
        power_w = power_w.value_or(0.0) + *device.power_w;
      } else {
        ++powers_missing;
      }
      if (!device.energy || !device.energy->energy) {
        ++energies_missing;
        continue;
      }
      energy.energy = energy.energy.value_or(Joules(0)) + *device.energy->energy;
      energy.uncertainty += device.energy->uncertainty;
      energy.unknown = std::max(energy.unknown, device.energy->unknown);
      mean += mean_power(*device.energy, elapsed).value_or(Watts(0));
      ++energies;
    }
  }
};

Sum sum_of(const StreamedServer& server, Seconds elapsed) {
  Sum sum;
  sum.add(server, elapsed);
  return sum;
}

Sum sum_of(const StreamedPower& power) {
  Sum sum;
  for (const StreamedServer& server : power.servers) sum.add(server, power.elapsed);
  return sum;
}

/// The order of a table: by the names as they came, or by power.
std::vector<StreamedServer> ordered(const StreamedPower& power, StreamOrder order) {
  std::vector<StreamedServer> servers = power.servers;
  if (order == StreamOrder::name) return servers;
  const auto watts = [](const StreamedDevice& device) { return device.power_w.value_or(-1.0); };
  for (StreamedServer& server : servers) {
    std::ranges::stable_sort(server.devices, std::greater(), watts);
  }
  std::ranges::stable_sort(servers, std::greater(), [&](const StreamedServer& server) {
    return sum_of(server, power.elapsed).power_w.value_or(-1.0);
  });
  return servers;
}

/// A row of a table: numbers of a device, or a sum; or only a remark, such as what is wrong.
struct Row {
  std::string device{};
  std::vector<std::string> numbers{};
  std::string remark{};
};

struct Block {
  std::string server;
  std::vector<Row> rows;
};

/// How a table writes a device and a sum.
struct Writer {
  std::vector<std::string> titles;
  std::function<Row(const StreamedServer&, const StreamedDevice&)> device;
  std::function<Row(const Sum&)> sum;
};

std::vector<Block> blocks_of(const StreamedPower& power, const StreamTable& table,
                             const Writer& writer) {
  std::vector<Block> blocks;
  const std::vector<StreamedServer> servers = ordered(power, table.order);
  for (const StreamedServer& server : servers) {
    Block block{.server = cut(printable(server.endpoint), kServerWidth), .rows = {}};
    for (const StreamedDevice& device : server.devices) {
      if (!table.by_node) block.rows.push_back(writer.device(server, device));
    }
    const std::size_t devices = server.devices.size();
    const bool is_summed = table.by_node ? devices > 0 : devices > 1 && servers.size() > 1;
    if (is_summed) {
      block.rows.push_back(writer.sum(sum_of(server, power.elapsed)));
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
    Row row = writer.sum(sum_of(power));
    if (servers.size() == 1) {
      row.device = "total";
      blocks.front().rows.push_back(std::move(row));
    } else {
      blocks.push_back({.server = "all", .rows = {std::move(row)}});
    }
  }
  return blocks;
}

/// The server beside its rows, or above them where there is no room.
std::string text_of(const std::vector<Block>& blocks, const std::vector<std::string>& titles,
                    const TextStyle& style) {
  std::size_t numbers = 0;
  std::size_t server_width = std::string_view("server").size();
  for (const std::string& title : titles) numbers += columns_of(title) + 2;
  for (const Block& block : blocks) server_width = std::max(server_width, columns_of(block.server));
  const bool beside = style.width == 0 || server_width + 2 + kDeviceWidth + numbers <= style.width;
  std::string text;
  const auto line = [&](std::string_view server, std::string_view device,
                        const std::vector<std::string>& cells, std::string_view remark) {
    const std::string first = beside ? fmt::format("{:<{}}  ", server, server_width) : "  ";
    std::string row = first;
    if (!cells.empty() || !device.empty()) {
      row += fmt::format("{:<{}}", device, kDeviceWidth);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t width = columns_of(titles[i]) + 2;
        const std::size_t wide = columns_of(cells[i]);
        row += std::string(width - std::min(width, wide), ' ') + cells[i];
      }
      // Below the numbers where there is no room beside them.
      const bool has_room =
          style.width == 0 || columns_of(row) + 2 + columns_of(remark) <= style.width;
      if (!remark.empty()) row += has_room ? "  " : "\n" + std::string(columns_of(first) + 2, ' ');
    }
    row += remark;
    row.erase(row.find_last_not_of(' ') + 1);
    text += fitted(row, style, columns_of(first) + 2) + "\n";
  };
  line("server", "device", titles, "");
  text = tinted(text.substr(0, text.size() - 1), Tint::dim, style) + "\n";
  for (const Block& block : blocks) {
    if (!beside) text += tinted(spelled(block.server, style), Tint::bold, style) + "\n";
    std::string_view server = block.server;
    for (const Row& row : block.rows) {
      line(std::exchange(server, ""), row.device, row.numbers, row.remark);
    }
  }
  return text;
}

/// A title at the right of its column.
std::string title(std::string_view text, std::size_t width) {
  return fmt::format("{:>{}}", text, width);
}

std::string without_text(std::size_t missing) {
  return missing == 0 ? "" : fmt::format("without {} not known", missing);
}

/// What is said of an energy after its numbers.
std::string remarks(const MeasuredEnergy& energy, std::string_view reason) {
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", part);
  };
  if (energy.energy && energy.unknown > Seconds(0)) {
    add(fmt::format("{} unknown", to_text(energy.unknown)));
  }
  add(flags_text(energy.flags, ", "));
  add(reason);
  return text;
}

std::string energy_text(const MeasuredEnergy& energy) {
  return energy.energy ? to_text(*energy.energy, energy.uncertainty) : "-";
}

Writer powers(const StreamTable& table, const TextStyle& style) {
  Writer writer{.titles = {title("power", kPowerWidth)}, .device = {}, .sum = {}};
  if (table.shows_energy) writer.titles.push_back(title("energy", kEnergyWidth));
  const auto row_of = [table, style](const std::optional<double>& power_w,
                                     const MeasuredEnergy& energy) {
    Row row{.numbers = {power_w ? to_text(Watts(*power_w)) : "-"}};
    if (table.shows_energy) row.numbers.push_back(spelled(energy_text(energy), style));
    return row;
  };
  writer.device = [row_of, table](const StreamedServer& server, const StreamedDevice& device) {
    const MeasuredEnergy energy = device.energy.value_or(MeasuredEnergy{});
    Row row = row_of(is_live(server, device) ? device.power_w : std::nullopt, energy);
    row.device = device.domain;
    row.remark = remarks(
        {.energy = table.shows_energy ? energy.energy : std::nullopt, .unknown = energy.unknown},
        device.reason);
    return row;
  };
  writer.sum = [row_of](const Sum& sum) {
    Row row = row_of(sum.power_w, sum.energy);
    row.remark = without_text(sum.powers_missing);
    return row;
  };
  return writer;
}

/// A mean power has no digit that its energy's uncertainty does not support.
std::string mean_text(const std::optional<Watts>& mean, const MeasuredEnergy& energy,
                      Seconds elapsed) {
  if (!mean) return "-";
  return rounded_text(*mean, energy.uncertainty / (elapsed - energy.unknown));
}

Writer energies(Seconds elapsed, const TextStyle& style) {
  Writer writer{.titles = {title("energy", kEnergyWidth), title("mean", kPowerWidth)},
                .device = {},
                .sum = {}};
  writer.device = [elapsed, style](const StreamedServer&, const StreamedDevice& device) {
    const MeasuredEnergy energy = device.energy.value_or(MeasuredEnergy{});
    Row row{.device = device.domain,
            .numbers = {spelled(energy_text(energy), style),
                        mean_text(mean_power(energy, elapsed), energy, elapsed)},
            .remark = remarks(energy, device.reason)};
    if (!energy.energy && device.reason.empty()) row.remark = "not known";
    return row;
  };
  writer.sum = [elapsed, style](const Sum& sum) {
    const auto mean = sum.energies > 0 ? std::optional(sum.mean) : std::nullopt;
    return Row{
        .numbers = {spelled(energy_text(sum.energy), style), mean_text(mean, sum.energy, elapsed)},
        .remark = without_text(sum.energies_missing)};
  };
  return writer;
}

}  // namespace

std::string table_of(const StreamedPower& power, const StreamTable& table, const TextStyle& style,
                     std::size_t height) {
  const Writer writer = powers(table, style);
  const std::string whole = text_of(blocks_of(power, table, writer), writer.titles, style);
  const auto lines = static_cast<std::size_t>(std::ranges::count(whole, '\n'));
  const std::size_t shown = lines <= height ? lines : std::max<std::size_t>(height, 1) - 1;
  std::string_view rest = whole;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string_view line = take_line(rest);
    // A long word that is not broken would break the terminal's line.
    const bool is_wide = style.width != 0 && columns_of(line) > style.width;
    text += is_wide ? cut(line, style.width) : std::string(line);
    text += '\n';
  }
  if (shown < lines)
    text += cut(fmt::format("... {} lines more", lines - shown), style.width) + "\n";
  return text;
}

std::string totals_of(const StreamedPower& total, const StreamTable& table,
                      const TextStyle& style) {
  const Writer writer = energies(total.elapsed, style);
  return fitted(fmt::format("in {}, ± of the sampling (k=2):\n", to_text(total.elapsed)), style) +
         text_of(blocks_of(total, table, writer), writer.titles, style);
}

}  // namespace wattle::app
