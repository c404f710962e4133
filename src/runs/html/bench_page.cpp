#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "report/html/page_parts.hpp"
#include "runs/bench/bench_text.hpp"
#include "runs/bench/scan_table.hpp"
#include "runs/html/cost_plots.hpp"
#include "runs/html/result_pages.hpp"
#include "wattle/wattle.hpp"

namespace wattle::html {
namespace {

/// Runs that the tables of a page list, together.
constexpr std::size_t kMostListed = 500;

std::string title_of(const BenchRecord& bench) {
  return bench.commands.size() == 1 ? bench.commands.front().name
                                    : fmt::format("{} commands compared", bench.commands.size());
}

std::string runs_text(const BenchRecord& bench) {
  std::size_t least = bench.commands.front().runs.size();
  std::size_t most = least;
  for (const BenchCommand& command : bench.commands) {
    least = std::min(least, command.runs.size());
    most = std::max(most, command.runs.size());
  }
  std::string text =
      least == most ? fmt::format("{} runs", most) : fmt::format("{} to {} runs", least, most);
  if (most == 1) text = least == most ? "1 run" : "0 to 1 runs";
  return text + (bench.commands.size() > 1 ? " of each command" : "");
}

Facts facts_of(const BenchRecord& bench) {
  Facts facts{"How the benchmark was made", {}};
  if (bench.commands.size() > 1) {
    facts.rows.emplace_back(
        "order", bench.is_interleaved
                     ? fmt::format("in turns, each round in a random order (--seed {})", bench.seed)
                     : "one command after the other");
  }
  facts.rows.emplace_back("shell", bench.shell.empty() ? "none" : bench.shell);
  facts.rows.emplace_back("warm-up runs", fmt::format("{}", bench.warmup));
  facts.rows.emplace_back("energy of", bench.energy_covers.empty()
                                           ? "nothing: not measured"
                                           : joined(bench.energy_covers, ", "));
  return facts;
}

void add_comparison(Page& page, const BenchRecord& bench) {
  const std::vector<ReferenceComparison> found = comparisons_with_reference(bench);
  if (found.empty()) return;
  const std::string& reference = bench.commands[bench.reference].name;
  page.blocks.emplace_back(Heading{"Beside " + reference});
  Lines lines;
  Plots plots;
  for (const Cost cost : kCostsInSentences) {
    std::vector<NamedRatio> ratios;
    for (const ReferenceComparison& one : found) {
      if (one.comparison.cost != cost) continue;
      ratios.push_back({one.command->name, *one.comparison.ratio});
      lines.lines.push_back({one.sentence, one.comparison.ratio->is_shown()});
    }
    if (!ratios.empty()) {
      plots.plots.emplace_back(
          change_plot(fmt::format("{} compared with {}", name_of(cost), reference), ratios));
    }
  }
  for (const std::string& note : notes_on_claims(bench, found)) {
    lines.lines.push_back({"Note: " + note, false});
  }
  page.blocks.emplace_back(std::move(lines));
  page.blocks.emplace_back(change_legend());
  page.blocks.emplace_back(std::move(plots));
}

void add_scan(Page& page, const BenchRecord& bench) {
  const auto scan = scan_table(bench);
  if (!scan) return;
  Table table{.caption = "Ordered by " + scan->ordered_by, .columns = {}, .rows = scan->rows};
  for (std::size_t i = 0; i < scan->titles.size(); ++i) {
    table.columns.push_back({scan->titles[i], i > 0});
  }
  page.blocks.emplace_back(Heading{"Ordered by " + scan->ordered_by});
  page.blocks.emplace_back(std::move(table));
  if (auto plot = scan_plot(bench)) {
    Plots plots;
    plots.plots.emplace_back(*std::move(plot));
    page.blocks.emplace_back(std::move(plots));
  }
}

void add_command(Page& page, const BenchCommand& command, std::size_t most_listed) {
  page.blocks.emplace_back(Heading{command.name});
  Facts facts{"What was run", {}};
  if (command.command != command.name) facts.rows.emplace_back("command", command.command);
  for (const auto& [name, value] : command.parameters) facts.rows.emplace_back(name, value);
  if (!facts.rows.empty()) page.blocks.emplace_back(std::move(facts));
  if (command.runs.empty()) {
    page.blocks.emplace_back(Paragraph{"No run has ended."});
    return;
  }
  Table table{.caption = "What it cost: " + command.name, .columns = {{"cost"}}};
  for (std::size_t i = 1; i < kCostTitles.size(); ++i) {
    table.columns.push_back({kCostTitles.at(i), true});
  }
  for (const Cost cost : kCosts) {
    auto cells = cost_cells(cost, command.runs);
    if (!cells.empty()) table.rows.push_back(std::move(cells));
  }
  page.blocks.emplace_back(std::move(table));
  if (auto lines = estimate_words(command); !lines.empty()) {
    page.blocks.emplace_back(estimates_of(std::move(lines)));
  }
  add_runs_table(page, {command.name, command.runs}, most_listed);
}

void add_sentences(Page& page, const char* heading, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  Lines lines;
  for (const std::string& sentence : sentences) lines.lines.push_back({sentence});
  page.blocks.emplace_back(Heading{heading});
  page.blocks.emplace_back(std::move(lines));
}

}  // namespace

Page page_of(const BenchRecord& bench) {
  const Seconds length(bench.ended_unix_s - bench.started_unix_s);
  Page page{
      .title = title_of(bench),
      .subtitle = subtitle_of({"host " + bench.host.name, bench.host.cpu,
                               utc_text(bench.started_unix_s), to_text(length)}),
      .footer = fmt::format("wattle {}. The same numbers for programs, with every run: wattle "
                            "bench --export-json FILE.",
                            version())};
  if (bench.commands.empty()) return page;
  page.blocks.emplace_back(
      Paragraph{runs_text(bench) + (bench.is_interrupted ? "; interrupted" : "")});
  page.blocks.emplace_back(facts_of(bench));
  add_comparison(page, bench);
  add_scan(page, bench);
  add_sentences(page, "Warnings", bench.warnings);
  add_sentences(page, "Not measured", missing_energy(bench));
  std::vector<NamedRuns> all;
  all.reserve(bench.commands.size());
  for (const BenchCommand& command : bench.commands) all.push_back({command.name, command.runs});
  page.blocks.emplace_back(Heading{"All runs"});
  add_runs_plots(page, all);
  for (const BenchCommand& command : bench.commands) {
    add_command(page, command, kMostListed / bench.commands.size());
  }
  return page;
}

}  // namespace wattle::html
