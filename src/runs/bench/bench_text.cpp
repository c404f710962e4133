// A benchmark for people.
#include "runs/bench/bench_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "report/estimate_words.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/bench/scan_table.hpp"
#include "runs/claim_notes.hpp"
#include "runs/run_lacks.hpp"
#include "runs/statistics.hpp"

namespace wattle {
namespace {

/// Indices of the runs that `values_of` has the values of.
std::vector<std::size_t> runs_with(Cost cost, const std::vector<RunCost>& runs) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (value_of(cost, runs[i])) indices.push_back(i);
  }
  return indices;
}

/// "3, 7 and 9" of indices; at most five are named.
std::string run_numbers(const std::vector<std::size_t>& indices) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(indices.size(), kShown); ++i) {
    if (i > 0) text += i + 1 == indices.size() ? " and " : ", ";
    text += fmt::format("{}", indices[i] + 1);
  }
  if (indices.size() > kShown) text += fmt::format(" and {} more", indices.size() - kShown);
  return text;
}

}  // namespace

void mark_missing_domains(BenchRecord& bench) {
  std::vector<std::vector<RunCost>*> beside;
  beside.reserve(bench.commands.size());
  for (BenchCommand& command : bench.commands) beside.push_back(&command.runs);
  mark_missing_domains(beside);
}

std::vector<std::string> cost_cells(Cost cost, const std::vector<RunCost>& runs) {
  const std::optional<Summary> known = summary_of(cost, runs);
  if (!known) return {};
  const Summary& summary = *known;
  std::string name(name_of(cost));
  if (summary.count < runs.size()) {
    name += fmt::format(" ({} of {})", summary.count, runs.size());
  }
  const auto text = [&](double value) { return text_of(cost, value); };
  return {std::move(name),
          text(summary.mean),
          summary.sd ? "± " + text(*summary.sd) : std::string(kUnknownCell),
          text(summary.median),
          text(summary.min) + " .. " + text(summary.max),
          mean95_text(cost, summary)};
}

std::string mean95_text(Cost cost, const Summary& summary) {
  if (!summary.mean95) return std::string(kUnknownCell);
  return text_of(cost, std::max(0.0, summary.mean95->low)) + " to " +
         text_of(cost, summary.mean95->high);
}

std::vector<std::string> estimate_words(const BenchCommand& command) {
  if (!command.estimate || command.runs.empty()) return {};
  return words_of(*command.estimate, command.runs.size() == 1 ? "the command's" : "a run's mean");
}

std::vector<std::string> missing_energy(const BenchRecord& bench) {
  std::vector<std::string> lines;
  const bool is_estimated = std::ranges::any_of(
      bench.commands, [](const BenchCommand& command) { return command.estimate.has_value(); });
  for (auto kind = bench.energy_missing.begin(); kind != bench.energy_missing.end();) {
    // Kinds that are missing for one reason stand together.
    const std::string& reason = kind->reason;
    const bool has_some = has_part_of(bench.energy_covers, *kind);
    std::vector<std::string> kinds;
    for (; kind != bench.energy_missing.end() && kind->reason == reason &&
           has_part_of(bench.energy_covers, *kind) == has_some;
         ++kind) {
      kinds.push_back(kind->subject);
    }
    std::string line = fmt::format("{} energy of {}: {}", has_some ? "not all" : "no",
                                   fmt::join(kinds, ", "), reason);
    const bool has_hint = std::ranges::count(kinds, "cpu") > 0 && !is_estimated;
    if (has_hint) line += fmt::format("; {}", kEstimateHint);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<ReferenceComparison> comparisons_with_reference(const BenchRecord& bench,
                                                            std::span<const Cost> costs) {
  std::vector<ReferenceComparison> found;
  if (bench.commands.size() < 2 || bench.reference >= bench.commands.size()) return found;
  const BenchCommand& reference = bench.commands[bench.reference];
  for (const BenchCommand& command : bench.commands) {
    if (&command == &reference) continue;
    for (const Cost cost : costs) {
      const Comparison one = compare(cost, reference.runs, command.runs, bench.is_interleaved);
      if (!one.ratio) continue;
      found.push_back(
          {&command, one, sentence_of(one, printable(reference.name), printable(command.name))});
    }
  }
  return found;
}

std::vector<std::string> notes_on_claims(const BenchRecord& bench,
                                         const std::vector<ReferenceComparison>& found) {
  std::vector<Comparison> comparisons;
  comparisons.reserve(found.size());
  for (const ReferenceComparison& one : found) comparisons.push_back(one.comparison);
  std::vector<std::pair<std::string, std::span<const RunCost>>> runs;
  runs.reserve(bench.commands.size());
  for (const BenchCommand& command : bench.commands) {
    runs.emplace_back(printable(command.name), command.runs);
  }
  return notes_on_claims(comparisons, runs);
}

std::string to_text(const BenchCommand& command, const TextStyle& style) {
  std::string title = printable(command.name);
  title += ", " + counted(command.runs.size(), "run");
  std::string text = colored(wrapped(title, style, 2), Tint::bold, style) + "\n";
  if (command.runs.empty()) return text + "  no run has ended\n";
  // Without the median it fits 80 columns.
  constexpr std::ptrdiff_t kMedian = 3;
  TextTable table({Align::left, Align::right, Align::left, Align::right, Align::right}, style, 2);
  const auto add = [&](std::vector<std::string> cells, bool is_dim) {
    cells.erase(cells.begin() + kMedian);
    table.add(cells, is_dim);
  };
  add({kCostTitles.begin(), kCostTitles.end()}, true);
  for (const Cost cost : kCosts) {
    auto cells = cost_cells(cost, command.runs);
    if (!cells.empty()) add(std::move(cells), false);
  }
  text += table.text();
  for (const std::string& line : estimate_words(command)) {
    text += wrapped("  " + line, style) + "\n";
  }
  return text;
}

namespace {

std::string scan_text(const ScanTable& scan, const TextStyle& style) {
  std::vector<Align> columns(scan.titles.size(), Align::right);
  columns.front() = Align::left;
  columns.back() = Align::left;
  TextTable table(std::move(columns), style, 2);
  table.add(scan.titles, true);
  for (const auto& row : scan.rows) table.add(row);
  return colored("ordered by " + scan.ordered_by, Tint::bold, style) + "\n" + table.text();
}

}  // namespace

std::string summary_text(const BenchRecord& bench, const TextStyle& style) {
  std::string text;
  for (const std::string& line : missing_energy(bench)) text += wrapped(line + "\n", style, 2);
  if (bench.is_interrupted) {
    text += wrapped("warning: stopped before the end: the runs that ended are in the figures\n",
                    style, 2);
  }
  for (const std::string& warning : bench.warnings) {
    text += wrapped("warning: " + warning + "\n", style, 2);
  }
  const std::vector<ReferenceComparison> found = comparisons_with_reference(bench);
  if (!text.empty() && !found.empty()) text += "\n";
  for (const ReferenceComparison& one : found) {
    const std::string line = wrapped(one.sentence, style, 2);
    text += (one.comparison.ratio->is_shown() ? colored(line, Tint::bold, style) : line) + "\n";
  }
  for (const std::string& note : notes_on_claims(bench, found)) {
    text += wrapped("note: " + note + "\n", style, 2);
  }
  if (const auto scan = scan_table(bench))
    text += (text.empty() ? "" : "\n") + scan_text(*scan, style);
  return text;
}

std::vector<std::string> warnings_of(const BenchCommand& command) {
  std::vector<std::string> warnings;
  const std::string name = printable(command.name);
  for (const std::string& note : notes_on_energy(command.runs)) {
    warnings.push_back(fmt::format("{}: {}", name, note));
  }
  const auto unknown = std::ranges::count_if(
      command.runs, [](const RunCost& run) { return !run.peak_rss_bytes.has_value(); });
  if (unknown > 0) {
    warnings.push_back(fmt::format(
        "{}: the peak memory of {} of {} runs is too small to be known, so there is no mean", name,
        unknown, command.runs.size()));
  }
  const auto has_energy = !values_of(Cost::energy, command.runs).empty();
  const Cost cost = has_energy ? Cost::energy : Cost::time;
  const std::vector<double> values = values_of(cost, command.runs);
  std::vector<std::size_t> outliers = outliers_of(values);
  const std::vector<std::size_t> measured = runs_with(cost, command.runs);
  for (std::size_t& outlier : outliers) outlier = measured[outlier];
  const bool is_first = !outliers.empty() && outliers.front() == 0;
  if (is_first) {
    warnings.push_back(fmt::format(
        "{}: the first run differs from the others ({}, median {}): caches may be cold; use "
        "--warmup or --prepare",
        name, text_of(cost, values.front()), text_of(cost, median_of(values))));
    outliers.erase(outliers.begin());
  }
  if (!outliers.empty()) {
    warnings.push_back(fmt::format(
        "{}: {} of {} runs are outliers in {} (run {}): another program may have interfered; "
        "use a quiet machine",
        name, outliers.size(), values.size(), name_of(cost), run_numbers(outliers)));
  }
  if (const auto drift = drift_of(values)) {
    warnings.push_back(fmt::format(
        "{}: {} changes by {:+.1f} % from the first to the last run: the machine may not be in a "
        "steady state",
        name, name_of(cost), 100.0 * *drift));
  }
  std::vector<double> others;
  for (const RunCost& run : command.runs) {
    if (run.other_cores) others.push_back(*run.other_cores);
  }
  constexpr double kNoticed = 0.2;
  if (!others.empty() && median_of(others) > kNoticed) {
    warnings.push_back(fmt::format(
        "{}: other programs use {:.1f} CPU cores while it runs; {}", name, median_of(others),
        has_energy ? "their energy is in the figures" : "use a quiet machine"));
  }
  constexpr double kShort = 0.005;
  if (median_of(values_of(Cost::time, command.runs)) < kShort) {
    warnings.push_back(fmt::format(
        "{}: runs are shorter than 5 ms: starting a process is a large part of them", name));
  }
  return warnings;
}

}  // namespace wattle
