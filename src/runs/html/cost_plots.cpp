#include "runs/html/cost_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/unknown.hpp"
#include "runs/statistics.hpp"

namespace wattle::html {
namespace {

/// The most dots of all rows of a plot together: a page of many commands stays small.
constexpr std::size_t kMostDots = 2000;
/// Rows whose figures the text of a plot repeats.
constexpr std::size_t kMostInWords = 6;

std::string in_words(const std::vector<std::string>& sentences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(sentences.size(), kMostInWords); ++i) {
    text += (i > 0 ? " " : "") + sentences[i];
  }
  if (sentences.size() > kMostInWords) {
    text += fmt::format(" The tables have {} more.", sentences.size() - kMostInWords);
  }
  return text;
}

std::string energy_cell(const RunCost& run) {
  if (!run.energy) return std::string(kUnknownCell);
  return run.uncertainty ? to_text(*run.energy, *run.uncertainty) : to_text(*run.energy);
}

std::string cost_cell(Cost cost, const RunCost& run) {
  const auto value = value_of(cost, run);
  return value ? text_of(cost, *value) : std::string(kUnknownCell);
}

/// No digit that the energy's ± does not support.
std::string power_cell(const RunCost& run) {
  const auto power = value_of(Cost::power, run);
  if (!power || !run.uncertainty || run.wall <= Seconds(0)) return cost_cell(Cost::power, run);
  return rounded_text(Watts(*power), *run.uncertainty / run.wall);
}

std::string end_cell(const RunCost& run) {
  if (run.signal) return fmt::format("signal {}", *run.signal);
  return run.code ? fmt::format("exit {}", *run.code) : std::string(kUnknownCell);
}

}  // namespace

CostUnit unit_for(Cost cost, double highest) noexcept {
  constexpr double kKilo = 1e3;
  constexpr double kMega = 1e6;
  constexpr double kGiga = 1e9;
  const auto chosen = [&](const char* small, const char* plain, const char* large) {
    if (highest < 1.0) return CostUnit{small, kKilo};
    return highest < 10.0 * kKilo ? CostUnit{plain, 1.0} : CostUnit{large, 1.0 / kKilo};
  };
  switch (cost) {
    case Cost::energy:
      return chosen("mJ", "J", "kJ");
    case Cost::power:
      return chosen("mW", "W", "kW");
    case Cost::memory:
      return highest < kGiga ? CostUnit{"MB", 1.0 / kMega} : CostUnit{"GB", 1.0 / kGiga};
    case Cost::time:
    case Cost::cpu:
      break;
  }
  return highest < 1.0 ? CostUnit{"ms", kKilo} : CostUnit{"s", 1.0};
}

std::vector<double> thinned(const std::vector<double>& values, std::size_t most) {
  if (values.size() <= most) return values;
  const std::size_t groups = std::max<std::size_t>(most / 2, 1);
  std::vector<double> shown;
  for (std::size_t i = 0; i < groups; ++i) {
    const auto at = [&](std::size_t group) {
      return values.begin() + static_cast<std::ptrdiff_t>(group * values.size() / groups);
    };
    const auto [low, high] = std::minmax_element(at(i), at(i + 1));
    shown.push_back(low < high ? *low : *high);
    if (*low != *high) shown.push_back(low < high ? *high : *low);
  }
  return shown;
}

std::optional<DotPlot> runs_plot(Cost cost, const std::vector<NamedRuns>& all) {
  std::vector<std::pair<const NamedRuns*, std::vector<double>>> known;
  double highest = 0.0;
  for (const NamedRuns& runs : all) {
    std::vector<double> values = values_of(cost, runs.runs);
    if (values.empty()) continue;
    highest = std::max(highest, *std::ranges::max_element(values));
    known.emplace_back(&runs, std::move(values));
  }
  if (known.empty()) return std::nullopt;
  const CostUnit unit = unit_for(cost, highest);
  DotPlot plot{.name = std::string(name_of(cost)), .unit = unit.name};
  std::vector<std::string> sentences;
  for (auto& [runs, values] : known) {
    const Summary summary = summary_of(cost, runs->runs).value();
    DotPlot::DotRow row{.name = runs->name,
                        .text = text_of(cost, summary.mean),
                        .dots = thinned(values, kMostDots / known.size()),
                        .runs = values.size(),
                        .mark = summary.mean * unit.factor};
    for (double& dot : row.dots) dot *= unit.factor;
    if (summary.mean95) {
      row.interval = {std::max(summary.mean95->low, 0.0) * unit.factor,
                      summary.mean95->high * unit.factor};
    }
    plot.rows.push_back(std::move(row));
    sentences.push_back(values.size() == 1
                            ? fmt::format("{}: {}, 1 run.", runs->name, text_of(cost, summary.mean))
                            : fmt::format("{}: mean {}, {} runs from {} to {}.", runs->name,
                                          text_of(cost, summary.mean), values.size(),
                                          text_of(cost, summary.min), text_of(cost, summary.max)));
  }
  plot.summary = in_words(sentences);
  return plot;
}

void add_runs_plots(Page& page, const std::vector<NamedRuns>& all) {
  Plots plots;
  for (const Cost cost : kCosts) {
    if (auto plot = runs_plot(cost, all)) plots.plots.emplace_back(std::move(*plot));
  }
  if (plots.plots.empty()) return;
  std::string legend =
      "A dot is a run: the first one at the top of its row, the last one at the bottom. The "
      "upright "
      "line is the mean, and the orange band its 95 % interval. The axes do not start at 0.";
  const bool are_thinned = std::ranges::any_of(
      all, [&](const NamedRuns& runs) { return runs.runs.size() > kMostDots / all.size(); });
  if (are_thinned) {
    legend += " Of many runs the dots are the lowest and the highest of each group of neighbours.";
  }
  page.blocks.emplace_back(Note{std::move(legend)});
  page.blocks.emplace_back(std::move(plots));
}

Note change_legend() {
  return {
      "The upright line of a row is the change, and the orange band its 95 % interval. Where the "
      "band holds 0, no difference is shown."};
}

DotPlot change_plot(std::string name, const std::vector<NamedRatio>& all) {
  DotPlot plot{.name = std::move(name), .unit = "%", .line = 0.0};
  const auto percent = [](double log_ratio) { return 100.0 * change_of(log_ratio); };
  std::vector<std::string> sentences;
  for (const auto& [row_name, ratio] : all) {
    DotPlot::DotRow row{
        .name = row_name, .text = change_text(ratio), .runs = 0, .mark = percent(ratio.estimate)};
    if (ratio.interval)
      row.interval = {percent(ratio.interval->low), percent(ratio.interval->high)};
    sentences.push_back(fmt::format("{}: {}.", row_name, row.text));
    plot.rows.push_back(std::move(row));
  }
  plot.summary = in_words(sentences);
  return plot;
}

void add_runs_table(Page& page, const NamedRuns& runs, std::size_t most) {
  Table table{.caption = "Runs of " + runs.name,
              .columns = {{"run"},
                          {"energy ± (95 %)", true},
                          {"time", true},
                          {"mean power", true},
                          {"CPU time", true},
                          {"peak memory", true},
                          {"end"},
                          {"flags"}},
              .is_folded = true};
  for (std::size_t i = 0; i < std::min(runs.runs.size(), most); ++i) {
    const RunCost& run = runs.runs[i];
    table.rows.push_back({fmt::format("{}", i + 1), energy_cell(run), cost_cell(Cost::time, run),
                          power_cell(run), cost_cell(Cost::cpu, run), cost_cell(Cost::memory, run),
                          end_cell(run), flags_text(doubts_of(run.energy_flags), ", ")});
  }
  if (!table.rows.empty()) page.blocks.emplace_back(std::move(table));
  if (runs.runs.size() > most) {
    page.blocks.emplace_back(Note{fmt::format("{} of {} runs are not in the table.",
                                              runs.runs.size() - most, runs.runs.size())});
  }
}

}  // namespace wattle::html
