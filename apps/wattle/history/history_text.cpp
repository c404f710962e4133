#include "history/history_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/json/json_write.hpp"
#include "base/text/facts_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "output/energy_words.hpp"
#include "report/report.hpp"
#include "run_monitor/tables/time_text.hpp"
#include "runs/history/saved_run_json.hpp"
#include "runs/run_record.hpp"
#include "units/units_words.hpp"

namespace wattle::app {
namespace {

/// "2026-11-21 01:50:09" in the local zone.
std::string start_text(double unix_s) {
  std::string text = local_text(unix_s).substr(0, std::strlen("2026/11/21 01:50:09"));
  std::ranges::replace(text, '/', '-');
  return text;
}

/// `unknown`: kUnknown or kUnknownCell.
std::string exit_text_of(const RunSummary& run, std::string_view unknown) {
  if (run.signal) {
    const char* const name = ::sigabbrev_np(*run.signal);
    return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", *run.signal);
  }
  return run.exit_code ? fmt::format("{}", *run.exit_code) : std::string(unknown);
}

/// `unknown` and `at_least`: as a sentence or a cell has them.
std::string energy_text_of(const RunSummary& run, std::string_view unknown,
                           std::string_view at_least) {
  if (!run.energy_j) return std::string(unknown);
  const std::string_view bound = run.energy_is_lower_bound.value_or(false) ? at_least : "";
  return std::string(bound) +
         to_text(Joules(*run.energy_j), Joules(run.energy_uncertainty_j.value_or(0.0)));
}

std::string flags_of(const RunSummary& run) {
  return flags_text(doubts_of(run.energy_flags), ", ");
}

std::string tags_text(const Tags& tags) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : tags)
    parts.push_back(printable(fmt::format("{}={}", key, value)));
  return joined(parts, " ");
}

template <class T>
std::string number_cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string commit_text(const GitState& git) {
  constexpr std::size_t kShort = 12;
  std::string text = git.commit.empty() ? "no commit" : git.commit.substr(0, kShort);
  if (!git.branch.empty()) text += " on " + printable(git.branch);
  if (git.dirty) {
    text += *git.dirty ? ", with changes that are not committed" : ", without changes";
  } else {
    text += ", unknown whether with changes";
  }
  if (!git.unknown.empty()) text += ": " + printable(git.unknown);
  return text;
}

}  // namespace

std::string list_text(const std::vector<RunSummary>& runs, std::size_t more,
                      const TextStyle& style) {
  if (runs.empty()) return "no such run is saved\n";
  const bool has_flags =
      std::ranges::any_of(runs, [](const RunSummary& run) { return !flags_of(run).empty(); });
  std::vector<Align> columns = {Align::left, Align::left, Align::right, Align::right, Align::left};
  if (has_flags) columns.push_back(Align::left);
  columns.push_back(Align::left);
  TextTable table(columns, style, 0);
  const auto add = [&](std::vector<std::string> cells, const std::string& flags, bool is_title) {
    if (has_flags) cells.insert(cells.begin() + 4, flags);
    table.add(cells, is_title);
  };
  add({"id", "started", "time", "energy ± (k=2)", "exit", "command and tags"}, "flags", true);
  for (const RunSummary& run : runs) {
    constexpr std::size_t kMostBytes = 120;
    std::string what = printable(run.command, kMostBytes);
    if (!run.tags.empty()) what += "  [" + tags_text(run.tags) + "]";
    add({run.id, start_text(run.started_unix_s), to_text(Seconds(run.wall_s)),
         to_style_characters(energy_text_of(run, kUnknownCell, kAtLeastCell), style),
         exit_text_of(run, kUnknownCell), what},
        flags_of(run), false);
  }
  std::string text = table.text();
  if (more > 0) text += wrapped(fmt::format("{} more: --limit NUMBER\n", more), style);
  return text;
}

std::string list_json(const std::vector<RunSummary>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RunSummary& run : runs) list.push_back(summary_json(run));
  return dumped({{"schema", "wattle.history/1"}, {"runs", std::move(list)}}) + "\n";
}

std::string list_csv(const std::vector<RunSummary>& runs) {
  std::string text =
      "id,started_unix_s,wall_s,energy_j,energy_uncertainty_j,cpu_s,peak_rss_bytes,exit_code,"
      "signal,"
      "host,git_commit,git_dirty,tags,command,energy_is_lower_bound,energy_flags\n";
  for (const RunSummary& run : runs) {
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", run.id, run.started_unix_s, run.wall_s,
        number_cell(run.energy_j), number_cell(run.energy_uncertainty_j), number_cell(run.cpu_s),
        number_cell(run.peak_rss_bytes), number_cell(run.exit_code), number_cell(run.signal),
        csv_cell(run.host), csv_cell(run.git_commit), number_cell(run.git_dirty),
        csv_cell(tags_text(run.tags)), csv_cell(run.command),
        number_cell(run.energy_is_lower_bound), flags_text(run.energy_flags, " "));
  }
  return text;
}

std::string run_text(const SavedRun& saved, const TextStyle& style) {
  const Report report = parse_run_record(saved.record, "the record");
  const RunSummary run = summary_of(report);
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const std::string& label, const std::string& value) {
    facts.emplace_back(label, value);
  };
  add("id", saved.id);
  add("command",
      printable(run.command, std::string::npos) + ": exit " + exit_text_of(run, kUnknown));
  add("started", start_text(run.started_unix_s));
  add("time", to_text(report.wall));
  add("host", printable(run.host));
  add("energy", with_doubts(energy_text_of(run, kUnknown, kAtLeast), run.energy_flags));
  for (const DomainFigure& domain : report.energy.domains) {
    const EnergyFigure& figure = domain.figure;
    std::string value =
        figure.energy ? to_text(*figure.energy, figure.uncertainty) : std::string(kUnknown);
    if (domain.contained_in) value += ", in " + domain.contained_in->name();
    if (!figure.flags.none()) value += ", " + flags_text(figure.flags, ", ");
    add("  " + domain.domain.name(), value);
  }
  const Total& total = report.energy.total;
  for (const Refusal& kind : total.missing) {
    add("", lack_of(total.covers, kind) + ": " + printable(kind.reason));
  }
  add("cpu", run.cpu_s ? to_text(Seconds(*run.cpu_s)) : std::string(kUnknown));
  add("memory", run.peak_rss_bytes ? bytes_to_text(*run.peak_rss_bytes) : std::string(kUnknown));
  if (!saved.tags.empty()) add("tags", tags_text(saved.tags));
  if (!saved.directory.empty()) add("directory", printable(saved.directory));
  if (saved.git) add("git", commit_text(*saved.git));
  std::string text = facts_text(facts, style) + to_text(report.phases, style);
  if (report.units) text += "\n" + to_text(*report.units, style);
  return text;
}

}  // namespace wattle::app
