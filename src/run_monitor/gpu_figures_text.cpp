#include "run_monitor/gpu_figures_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "run_monitor/resource_summary.hpp"

namespace wattle {
namespace {

constexpr std::size_t kGap = 2;

std::string number_text(const std::optional<double>& figure, int decimals = 1) {
  return figure ? fmt::format("{:.{}f}", *figure, decimals) : std::string(kUnknownCell);
}

std::string memory_text(const std::optional<double>& mebibytes) {
  const bool is_whole = mebibytes && *mebibytes == std::floor(*mebibytes);
  return number_text(mebibytes, is_whole ? 0 : 1);
}

std::string energy_text(const GpuFigures& figures) {
  if (!figures.energy) return std::string(kUnknownCell);
  if (!figures.energy_uncertainty) return number_text(figures.energy->si()) + " J";
  return to_text(*figures.energy, *figures.energy_uncertainty);
}

/// Absent where nothing supports digits.
std::optional<Uncertain> mean_power_of(const GpuFigures& figures) {
  const auto& mean = figures.power_watts_mean;
  if (!mean || !figures.energy || !figures.energy_uncertainty) return std::nullopt;
  if (*figures.energy <= Joules(0)) return Uncertain{*mean};
  return Uncertain{*mean, *mean * (*figures.energy_uncertainty / *figures.energy)};
}

/// `limit`: see `limit_that_adds_up`.
std::string mean_power_cell(const GpuFigures& figures, double limit) {
  const auto power = mean_power_of(figures);
  if (!power) return number_text(figures.power_watts_mean);
  std::string text = mean_power_text(*power, limit);
  if (text.ends_with(" W")) text.resize(text.size() - 2);
  return text;
}

/// So that the mean powers of the GPUs add up to that of `all`.
double power_limit_of(const ResourceSummary& summary, const GpuFigures& all) {
  std::vector<Uncertain> parts;
  for (const GpuSummary& gpu : summary.gpus) {
    if (const auto power = mean_power_of(gpu)) parts.push_back(*power);
  }
  const auto sum = mean_power_of(all);
  const bool is_complete = sum && !parts.empty() && parts.size() == summary.gpus.size();
  return is_complete ? limit_that_adds_up(*sum, parts) : std::numeric_limits<double>::infinity();
}

/// Columns with a title of their own.
struct ColumnGroup {
  std::string_view title;
  std::vector<std::vector<std::string>> columns;  ///< the cells of each, the first is its heading
};

std::size_t width_of(std::span<const std::string> cells) {
  std::size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, columns_of(cell));
  return width;
}

std::size_t width_of(const ColumnGroup& block) {
  std::size_t width = 0;
  for (const auto& column : block.columns) width += kGap + width_of(column);
  return std::max(width, kGap + columns_of(block.title));
}

void add_right(std::string& line, std::string_view text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  line.append(width > columns ? width - columns : 0, ' ');
  line += text;
}

std::vector<ColumnGroup> blocks_of(const std::vector<const GpuFigures*>& rows, double power_limit) {
  const auto column = [&](const char* heading, const auto& text) {
    std::vector<std::string> cells = {heading};
    for (const GpuFigures* figures : rows) cells.push_back(text(*figures));
    return cells;
  };
  const auto percent = [&](const char* heading, std::optional<double> GpuFigures::*figure) {
    return column(heading, [figure](const GpuFigures& it) { return number_text(it.*figure); });
  };
  return {
      {.title = "memory",
       .columns = {column("peak MiB",
                          [](const GpuFigures& it) { return memory_text(it.peak_vram_mb); })}},
      {.title = "util., %",
       .columns = {percent("mean", &GpuFigures::gpu_util_mean_pct),
                   percent("peak", &GpuFigures::gpu_util_max_pct)}},
      {.title = "mem. util., %",
       .columns = {percent("mean", &GpuFigures::mem_util_mean_pct),
                   percent("peak", &GpuFigures::mem_util_max_pct)}},
      {.title = "power, W",
       .columns = {column("mean",
                          [power_limit](const GpuFigures& it) {
                            return mean_power_cell(it, power_limit);
                          }),
                   percent("peak", &GpuFigures::power_watts_max)}},
      {.title = "", .columns = {column("energy ± (k=2)", energy_text)}},
  };
}

/// The names that distinguish the GPUs, cut if they are long.
std::vector<std::string> labels_of(const ResourceSummary& summary) {
  constexpr std::size_t kMostColumns = 12;
  std::vector<std::string> names;
  std::size_t longest = 0;
  for (const GpuSummary& gpu : summary.gpus) {
    names.push_back(printable(gpu.name));
    longest = std::max(longest, columns_of(names.back()));
  }
  const auto cut_to = [&](std::size_t width) {
    std::vector<std::string> some;
    some.reserve(names.size());
    for (const std::string& name : names) some.push_back(cut(name, width));
    return some;
  };
  for (std::size_t width = kMostColumns; width < longest; ++width) {
    std::vector<std::string> some = cut_to(width);
    std::vector<std::string> sorted = some;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) == sorted.end()) return some;
  }
  return names;
}

std::string table_of(std::span<const ColumnGroup> blocks, const std::vector<std::string>& labels,
                     const TextStyle& style) {
  const std::size_t label_width = width_of(labels);
  const auto finish = [](std::string& line) { line.erase(line.find_last_not_of(' ') + 1); };
  std::string titles(label_width, ' ');
  for (const ColumnGroup& block : blocks) add_right(titles, block.title, width_of(block));
  finish(titles);
  std::string text = titles.empty() ? "" : colored(titles, Tint::dim, style) + "\n";
  for (std::size_t row = 0; row < labels.size(); ++row) {
    std::string line = labels[row];
    line.append(label_width - columns_of(line), ' ');
    for (const ColumnGroup& block : blocks) {
      std::size_t left = width_of(block);
      for (std::size_t i = block.columns.size(); i-- > 1;) {
        left -= kGap + width_of(block.columns[i]);
      }
      for (const auto& column : block.columns) {
        add_right(line, column[row],
                  &column == &block.columns.front() ? left : kGap + width_of(column));
      }
    }
    finish(line);
    text += (row == 0 ? colored(line, Tint::dim, style) : line) + "\n";
  }
  return text + "\n";
}

}  // namespace

std::string mean_power_text(const Uncertain& mean, double limit) {
  if (mean.uncertainty > 0.5 * mean.value) return number_text(mean.value) + " W";
  return rounded_text(Watts(mean.value), Watts(std::min(mean.uncertainty, limit)));
}

std::string gpu_figures_text(const ResourceSummary& summary, const TextStyle& style) {
  std::vector<std::string> labels = labels_of(summary);
  labels.insert(labels.begin(), "GPU");
  std::vector<const GpuFigures*> rows;
  rows.reserve(summary.gpus.size() + 1);
  for (const GpuSummary& gpu : summary.gpus) rows.push_back(&gpu);
  auto all = static_cast<const GpuFigures&>(summary);
  if (!summary.gpus.empty()) all.power_watts_mean = total_mean_power(summary);
  const double power_limit = power_limit_of(summary, all);
  if (summary.gpus.size() != 1) {
    rows.push_back(&all);
    labels.emplace_back("all");
  }
  for (std::string& label : labels) label = to_style_characters(label, style);
  std::vector<ColumnGroup> blocks = blocks_of(rows, power_limit);
  for (ColumnGroup& block : blocks) {
    for (auto& column : block.columns) {
      for (std::string& cell : column) cell = to_style_characters(cell, style);
    }
  }
  std::string text;
  for (std::span<const ColumnGroup> left(blocks); !left.empty();) {
    std::size_t width = width_of(labels);
    std::size_t count = 0;
    while (count < left.size()) {
      width += width_of(left[count]);
      if (count > 0 && style.width > 0 && width > style.width) break;
      ++count;
    }
    text += table_of(left.first(count), labels, style);
    left = left.subspan(count);
  }
  if (summary.gpus.size() < 2) return text;
  return text + wrapped(
                    "all: the sum of mean powers and energies, the mean of utilizations, the "
                    "highest peak of one GPU\n\n",
                    style);
}

}  // namespace wattle
