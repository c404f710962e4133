#include "runs/compared_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "base/json/json_write.hpp"
#include "base/text/text.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/claim_notes.hpp"
#include "runs/compared_jobs.hpp"
#include "runs/history/saved_run_json.hpp"
#include "runs/record_text.hpp"
#include "runs/run_lacks.hpp"
#include "wattle/error.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

std::string machine_name(const Host& host) {
  std::string name = host.name.empty() ? "an unknown host" : printable(host.name);
  if (!host.cpu.empty()) name += fmt::format(" ({})", printable(host.cpu));
  return name;
}

/// Two jobs of one cluster seldom get the same nodes: there the models count.
bool are_comparable(const RunsOfCommand& a, const Host& host, bool is_job) {
  return a.are_jobs || is_job ? has_same_models(a.host, host) : is_same_machine(a.host, host);
}

RunSource source_of_bench(const BenchRecord& bench, const std::string& name) {
  RunSource source{.name = name, .commands = {}};
  for (const BenchCommand& command : bench.commands) {
    source.commands.push_back({.name = command.name, .host = bench.host, .runs = command.runs});
  }
  return source;
}

/// Pairs of commands: the only ones of both, or those of one name.
std::vector<ComparedRuns> matched(const RunSource& a, const RunSource& b) {
  std::vector<ComparedRuns> pairs;
  if (a.commands.size() == 1 && b.commands.size() == 1) {
    pairs.push_back({a.commands.front(), b.commands.front(), {}});
    return pairs;
  }
  for (const RunsOfCommand& of_a : a.commands) {
    const auto of_b = std::ranges::find(b.commands, of_a.name, &RunsOfCommand::name);
    if (of_b != b.commands.end()) pairs.push_back({of_a, *of_b, {}});
  }
  if (pairs.empty()) {
    throw Error(fmt::format("cannot compare {} with {}: they have no command in common",
                            printable(a.name), printable(b.name)));
  }
  return pairs;
}

/// Notes on the commands of one source that nothing is compared with.
void add_unmatched(std::vector<std::string>& notes, const RunSource& source, const RunSource& other,
                   const std::vector<ComparedRuns>& all) {
  for (const RunsOfCommand& command : source.commands) {
    const bool is_compared = std::ranges::any_of(all, [&](const ComparedRuns& pair) {
      return pair.a.name == command.name || pair.b.name == command.name;
    });
    if (is_compared) continue;
    notes.push_back(fmt::format("{}: {} is not compared: {} has no such command",
                                printable(source.name), printable(command.name),
                                printable(other.name)));
  }
}

/// "A", or "A (make)" where a source has several commands.
std::string shown_name(const RunSource& source, const RunsOfCommand& command, bool is_one) {
  return is_one ? printable(source.name)
                : fmt::format("{} ({})", printable(source.name), printable(command.name));
}

}  // namespace

std::size_t RunsOfCommand::failed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(runs, [](const RunCost& run) { return run.code != 0; }));
}

RunSource source_of(const std::vector<Report>& records, const std::string& name) {
  RunSource source{.name = name, .commands = {}};
  for (ComparedRun& run : compared_runs_of(records, name)) {
    auto found = std::ranges::find(source.commands, run.command, &RunsOfCommand::name);
    if (found == source.commands.end()) {
      source.commands.push_back({.name = run.command, .host = run.host, .runs = {}});
      found = source.commands.end() - 1;
    }
    if (!are_comparable(*found, run.host, run.is_job)) {
      throw Error(fmt::format("cannot compare {}: its runs are of several machines, {} and {}",
                              printable(name), machine_name(found->host), machine_name(run.host)));
    }
    found->are_jobs = found->are_jobs || run.is_job;
    found->runs.push_back(std::move(run.cost));
    std::ranges::move(run.notes, std::back_inserter(source.notes));
  }
  return source;
}

RunSource read_source(std::string_view text, const std::string& name) {
  std::vector<RecordText> records = parse_records(text, name);
  if (schema_of(records.front().json).starts_with("wattle.bench/")) {
    if (records.size() == 1) return source_of_bench(parse_bench_record(text, name), name);
    throw Error(fmt::format("cannot read {}: it holds more than one benchmark", printable(name)));
  }
  std::vector<Report> runs;
  runs.reserve(records.size());
  for (RecordText& record : records) runs.push_back(run_of_saved(std::move(record)));
  return source_of(runs, name);
}

std::vector<ComparedRuns> compare_sources(const RunSource& a, const RunSource& b,
                                          bool ignores_machines) {
  std::vector<ComparedRuns> pairs = matched(a, b);
  for (ComparedRuns& pair : pairs) {
    if (!ignores_machines && !are_comparable(pair.a, pair.b.host, pair.b.are_jobs)) {
      throw Error(
          fmt::format("{} is from {}, {} from {}: these machines differ; --force compares "
                      "them",
                      printable(a.name), machine_name(pair.a.host), printable(b.name),
                      machine_name(pair.b.host)));
    }
    if (pair.a.runs.empty() || pair.b.runs.empty()) {
      throw Error(fmt::format("cannot compare {} with {}: one of them has no runs",
                              printable(a.name), printable(b.name)));
    }
    mark_missing_domains({&pair.a.runs, &pair.b.runs});
    mark_missing_ranks({&pair.a.runs, &pair.b.runs});
    for (const Cost cost : kCosts) {
      const Comparison found = compare(cost, pair.a.runs, pair.b.runs, false);
      if (found.ratio) pair.comparisons.push_back(found);
    }
  }
  return pairs;
}

ComparedNames names_of(const RunSource& a, const RunSource& b, const ComparedRuns& pair,
                       bool is_one) {
  return {shown_name(a, pair.a, is_one), shown_name(b, pair.b, is_one)};
}

std::vector<std::string> compared_cells(Cost cost, const ComparedRuns& pair) {
  std::vector<std::string> cells = {std::string(name_of(cost))};
  for (const RunsOfCommand* side : {&pair.a, &pair.b}) {
    const Summary of = summarize(values_of(cost, side->runs));
    cells.push_back(text_of(cost, of.mean));
    cells.push_back(of.sd ? "± " + text_of(cost, *of.sd) : std::string("(1 run)"));
  }
  return cells;
}

bool has_sentence(Cost cost) noexcept { return std::ranges::count(kCostsInSentences, cost) > 0; }

/// On the runs of one side that lack something, or failed.
void add_notes_on_runs(std::vector<std::string>& notes, const RunSource& source,
                       const RunsOfCommand& command) {
  const std::string name = printable(source.name);
  for (const std::string& note : notes_on_energy(command.runs)) {
    notes.push_back(fmt::format("{}: {}", name, note));
  }
  const auto lacking = std::ranges::count_if(command.runs, &RunCost::lacks_ranks);
  if (lacking > 0) {
    notes.push_back(fmt::format("{}: {} of {} runs lack ranks of their job, and are in no figure",
                                name, lacking, command.runs.size()));
  }
  if (command.failed() > 0) {
    notes.push_back(fmt::format("{}: {} of {} runs failed, and are in the figures", name,
                                command.failed(), command.runs.size()));
  }
}

std::vector<std::string> notes_on(const RunSource& a, const RunSource& b,
                                  const std::vector<ComparedRuns>& all) {
  std::vector<std::string> notes;
  bool machines_differ = false;
  bool lacks_energy = false;
  for (const RunSource* source : {&a, &b}) {
    for (const std::string& note : source->notes) {
      notes.push_back(fmt::format("{}: {}", printable(source->name), note));
    }
  }
  for (const ComparedRuns& pair : all) {
    machines_differ = machines_differ || !is_same_machine(pair.a.host, pair.b.host);
    lacks_energy =
        lacks_energy || std::ranges::count(pair.comparisons, Cost::energy, &Comparison::cost) == 0;
    for (const auto& [source, command] : {std::pair(&a, &pair.a), std::pair(&b, &pair.b)}) {
      add_notes_on_runs(notes, *source, *command);
    }
    const auto [name_a, name_b] = names_of(a, b, pair, all.size() == 1);
    const std::array<std::pair<std::string, std::span<const RunCost>>, 2> runs = {
        {{name_a, pair.a.runs}, {name_b, pair.b.runs}}};
    for (const std::string& note : notes_on_claims(pair.comparisons, runs)) {
      if (std::ranges::count(notes, note) == 0) notes.push_back(note);
    }
  }
  const bool is_one = a.commands.size() == 1 && b.commands.size() == 1;
  if (is_one && a.commands.front().name != b.commands.front().name) {
    notes.push_back(fmt::format("the commands differ: {}, and {}",
                                printable(a.commands.front().name),
                                printable(b.commands.front().name)));
  } else if (!is_one) {
    add_unmatched(notes, a, b, all);
    add_unmatched(notes, b, a, all);
  }
  if (lacks_energy) {
    notes.emplace_back(
        "no comparison of energy: at least one side has none that was measured in full");
  }
  if (machines_differ) {
    notes.emplace_back(
        "the machines differ: their energy sensors may be off by different amounts, which is in no "
        "interval");
  }
  return notes;
}

std::string to_json(const RunSource& a, const RunSource& b, const std::vector<ComparedRuns>& all) {
  Json comparisons = Json::array();
  for (const ComparedRuns& pair : all) {
    for (const Comparison& comparison : pair.comparisons) {
      comparisons.push_back(comparison_json(comparison, pair.a.name, pair.b.name));
    }
  }
  const Json json = {{"schema", "wattle.compare/1"},
                     {"wattle_version", version()},
                     {"a", a.name},
                     {"b", b.name},
                     {"comparisons", std::move(comparisons)},
                     {"notes", notes_on(a, b, all)}};
  return dumped(json) + "\n";
}

std::string to_text(const RunSource& a, const RunSource& b, const std::vector<ComparedRuns>& all,
                    const TextStyle& style, Cost asked) {
  std::string text;
  for (const ComparedRuns& pair : all) {
    const bool is_one = all.size() == 1;
    const auto [name_a, name_b] = names_of(a, b, pair, is_one);
    TextTable table({Align::left, Align::right, Align::left, Align::right, Align::left}, style, 2);
    table.add({"mean ± sd", name_a, "", name_b, ""}, true);
    for (const Comparison& comparison : pair.comparisons) {
      table.add(compared_cells(comparison.cost, pair));
    }
    if (!pair.comparisons.empty()) text += table.text();
    for (const Comparison& comparison : pair.comparisons) {
      if (!has_sentence(comparison.cost) && comparison.cost != asked) continue;
      const std::string line = wrapped(sentence_of(comparison, name_a, name_b), style, 2);
      text += (comparison.ratio->is_shown() ? colored(line, Tint::bold, style) : line) + "\n";
    }
  }
  for (const std::string& note : notes_on(a, b, all))
    text += wrapped("note: " + note + "\n", style, 2);
  return text;
}

Json comparison_json(const Comparison& comparison, const std::string& reference,
                     const std::string& command) {
  const LogRatio& ratio = *comparison.ratio;
  const auto percent = [](double log_ratio) { return 100.0 * change_of(log_ratio); };
  const auto resolution = resolution_of(ratio);
  return {{"reference", reference},
          {"command", command},
          {"quantity", key_of(comparison.cost)},
          {"change_percent", percent(ratio.estimate)},
          {"low_percent", ratio.interval ? Json(percent(ratio.interval->low)) : Json()},
          {"high_percent", ratio.interval ? Json(percent(ratio.interval->high)) : Json()},
          {"is_shown", ratio.is_shown()},
          {"doubt", comparison.doubt.empty() ? Json() : Json(comparison.doubt)},
          {"is_paired", comparison.is_paired},
          {"runs", ratio.runs},
          {"outliers", ratio.outliers},
          {"outliers_of", ratio.outliers_of},
          {"is_by_sampling", ratio.is_by_sampling},
          {"common_percent", ratio.interval ? Json(percent(ratio.common)) : Json()},
          {"more_runs", resolution ? Json(resolution->more_runs) : Json()},
          {"more_runs_show_percent", resolution ? Json(100.0 * resolution->change) : Json()}};
}

}  // namespace wattle
