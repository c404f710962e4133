#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/text/text.hpp"
#include "report/html/page_parts.hpp"
#include "runs/html/cost_plots.hpp"
#include "runs/html/result_pages.hpp"
#include "wattle/wattle.hpp"

namespace wattle::html {
namespace {

std::string runs_of(const RunsOfCommand& side, const std::string& name) {
  return fmt::format("{} of {}", counted(side.runs.size(), "run"), name);
}

std::string machine_of(const Host& host) {
  return subtitle_of({host.name.empty() ? "" : "host " + host.name, host.cpu});
}

std::string machines_of(const std::vector<ComparedRuns>& all) {
  if (all.empty()) return {};
  const std::string a = machine_of(all.front().a.host);
  const std::string b = machine_of(all.front().b.host);
  return a == b ? a : fmt::format("{} compared with {}", a, b);
}

Table table_of(const ComparedRuns& pair, const ComparedNames& names) {
  Table table{.caption = fmt::format("{} compared with {}", names.b, names.a),
              // The change comes first: it stays visible on a phone.
              .columns = {{"mean ± sd"},
                          {"change (95 %)", true},
                          {names.a, true},
                          {"± sd", true},
                          {names.b, true},
                          {"± sd", true}}};
  for (const Comparison& comparison : pair.comparisons) {
    table.rows.push_back(compared_cells(comparison.cost, pair));
    table.rows.back().insert(table.rows.back().begin() + 1, change_text(*comparison.ratio));
  }
  return table;
}

void add_pair(Page& page, const ComparedRuns& pair, const ComparedNames& names,
              std::size_t most_listed) {
  Lines lines;
  std::vector<NamedRatio> ratios;
  for (const Comparison& comparison : pair.comparisons) {
    ratios.push_back({std::string(name_of(comparison.cost)), *comparison.ratio});
    if (!has_sentence(comparison.cost)) continue;
    lines.lines.push_back(
        {sentence_of(comparison, names.a, names.b), comparison.ratio->is_shown()});
  }
  page.blocks.emplace_back(Paragraph{
      fmt::format("Compared: {}, {}.", runs_of(pair.a, names.a), runs_of(pair.b, names.b))});
  if (ratios.empty()) return;
  page.blocks.emplace_back(std::move(lines));
  page.blocks.emplace_back(table_of(pair, names));
  page.blocks.emplace_back(Heading{"Changes"});
  page.blocks.emplace_back(change_legend());
  page.blocks.emplace_back(
      Plots{{change_plot(fmt::format("{} compared with {}", names.b, names.a), ratios)}});
  const std::vector<NamedRuns> runs = {{names.a, pair.a.runs}, {names.b, pair.b.runs}};
  page.blocks.emplace_back(Heading{"All runs"});
  add_runs_plots(page, runs);
  for (const NamedRuns& side : runs) add_runs_table(page, side, most_listed);
}

}  // namespace

Page page_of(const RunSource& a, const RunSource& b, const std::vector<ComparedRuns>& all) {
  constexpr std::size_t kMostOfBoth = 500;
  Page page{.title = fmt::format("{} compared with {}", b.name, a.name),
            .subtitle = machines_of(all),
            .footer = fmt::format(
                "wattle {}. The same numbers for programs: wattle compare --json.", version())};
  for (const ComparedRuns& pair : all) {
    if (all.size() > 1) page.blocks.emplace_back(Heading{pair.a.name});
    add_pair(page, pair, names_of(a, b, pair, all.size() == 1), kMostOfBoth / (2 * all.size()));
  }
  const std::vector<std::string> notes = notes_on(a, b, all);
  if (notes.empty()) return page;
  Lines lines;
  for (const std::string& note : notes) lines.lines.push_back({note});
  page.blocks.emplace_back(Heading{"Notes"});
  page.blocks.emplace_back(std::move(lines));
  return page;
}

}  // namespace wattle::html
