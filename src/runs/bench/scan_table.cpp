#include "runs/bench/scan_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "runs/statistics.hpp"

namespace wattle {
namespace {

/// A command with its mean cost.
struct Scanned {
  const BenchCommand* command;
  double mean;
};

std::vector<std::string> names_of_parameters(const std::vector<Scanned>& commands) {
  std::vector<std::string> names;
  for (const Scanned& scanned : commands) {
    for (const auto& [name, value] : scanned.command->parameters) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string cell_of_parameter(const BenchCommand& command, const std::string& name) {
  const std::string* const value = parameter_of(command, name);
  return value == nullptr ? std::string(kUnknownCell) : printable(*value, 40);
}

/// "50.00 J ±0.11 J", with half of the 95 % interval of the mean, which has the ± of the runs in
/// it.
std::string mean_energy(const std::vector<RunCost>& runs) {
  const std::optional<Summary> summary = summary_of(Cost::energy, runs);
  if (!summary) return std::string(kUnknownCell);
  if (!summary->mean95) return text_of(Cost::energy, summary->mean);
  return to_text(Joules(summary->mean),
                 Joules((summary->mean95->high - summary->mean95->low) / 2.0));
}

/// "1.000 s ± 11.00 ms", with the standard deviation.
std::string mean_time(const std::vector<RunCost>& runs) {
  const std::vector<double> values = values_of(Cost::time, runs);
  if (values.empty()) return std::string(kUnknownCell);
  const Summary summary = summarize(values);
  std::string text = text_of(Cost::time, summary.mean);
  if (summary.sd) text += " ± " + text_of(Cost::time, *summary.sd);
  return text;
}

/// The flags of all energies that are in the mean.
Flags flags_of_mean(const std::vector<RunCost>& runs) {
  Flags flags;
  for (const RunCost& run : runs) {
    if (value_of(Cost::energy, run)) flags |= run.energy_flags;
  }
  return flags;
}

/// "100 % more, 2.0 times".
std::string beside_least(double mean, double least) {
  if (!(least > 0.0)) return std::string(kUnknownCell);
  const double ratio = mean / least;
  return fmt::format("{:.{}f} % more, {:.{}f} times", 100.0 * (ratio - 1.0), ratio < 2.0 ? 1 : 0,
                     ratio, ratio < 10.0 ? 1 : 0);
}

}  // namespace

const std::string* parameter_of(const BenchCommand& command, const std::string& name) {
  for (const auto& [found, value] : command.parameters) {
    if (found == name) return &value;
  }
  return nullptr;
}

Scan scan_of(const BenchRecord& bench) {
  Scan scan{.cost = Cost::energy, .commands = {}};
  for (const BenchCommand& command : bench.commands) {
    if (command.parameters.empty() || command.runs.empty()) continue;
    scan.commands.push_back(&command);
    if (values_of(Cost::energy, command.runs).empty()) scan.cost = Cost::time;
  }
  return scan;
}

std::optional<ScanTable> scan_table(const BenchRecord& bench) {
  const Scan scan = scan_of(bench);
  if (scan.commands.size() < 2) return std::nullopt;
  const bool has_energy = scan.cost == Cost::energy;
  std::vector<Scanned> commands;
  commands.reserve(scan.commands.size());
  for (const BenchCommand* command : scan.commands) {
    commands.push_back({command, summarize(values_of(scan.cost, command->runs)).mean});
  }
  std::ranges::stable_sort(commands, {}, &Scanned::mean);
  ScanTable table{.ordered_by = std::string(name_of(scan.cost)),
                  .titles = names_of_parameters(commands),
                  .parameters = 0,
                  .rows = {}};
  table.parameters = table.titles.size();
  const std::vector<std::string> names = table.titles;
  if (has_energy) table.titles.emplace_back("energy ± (95 %)");
  table.titles.emplace_back("time ± sd");
  table.titles.emplace_back("beside the least");
  for (const Scanned& scanned : commands) {
    std::vector<std::string> row;
    row.reserve(table.titles.size());
    for (const std::string& name : names) row.push_back(cell_of_parameter(*scanned.command, name));
    if (has_energy) row.push_back(mean_energy(scanned.command->runs));
    row.push_back(mean_time(scanned.command->runs));
    std::string beside = &scanned == &commands.front()
                             ? "the least"
                             : beside_least(scanned.mean, commands.front().mean);
    if (has_energy) {
      beside = with_doubts(std::move(beside), flags_of_mean(scanned.command->runs));
    }
    row.push_back(std::move(beside));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace wattle
