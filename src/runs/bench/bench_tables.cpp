// The results of a benchmark as tables for other programs and for documents.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/bench/bench_text.hpp"
#include "runs/statistics.hpp"

namespace wattle {
namespace {

/// A cell of CSV with a text from outside.
std::string shown_cell(const std::string& text) {
  return csv_cell(printable(text, std::string::npos));
}

std::string with_backslash_before(char special, const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == special) result += '\\';
    result += letter;
  }
  return result;
}

/// The same characters in a table of Markdown, as code. Code with backticks stands between more of
/// them than it has in a row, and spaces that are not shown.
std::string markdown_code(const std::string& text) {
  const std::string cell = with_backslash_before('|', printable(text));
  std::size_t row = 0;
  std::size_t longest = 0;
  for (const char letter : cell) {
    row = letter == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(longest + 1, '`');
  const char* const space = longest == 0 ? "" : " ";
  return fence + space + cell + space + fence;
}

/// The same characters in a table of AsciiDoc, as code. What may be markup goes through a macro
/// that leaves it as it is.
std::string asciidoc_code(const std::string& text) {
  const std::string cell = with_backslash_before('|', printable(text));
  if (cell.find_first_of("`*_#+^~{}[]<>&:'\"") == std::string::npos) return "`" + cell + "`";
  return "`pass:c[" + with_backslash_before(']', cell) + "]`";
}

/// The same in a table of Org mode, verbatim. A bar has a name there.
std::string orgmode_code(const std::string& text) {
  std::string cell;
  for (const char letter : printable(text)) {
    if (letter == '|') {
      cell += "\\vert{}";
    } else {
      cell += letter;
    }
  }
  return "=" + cell + "=";
}

/// The flags of the energies that are in figures, each once.
std::vector<std::string> flags_of(const std::vector<RunCost>& runs) {
  std::set<std::string> flags;
  for (const RunCost& run : runs) {
    if (!value_of(Cost::energy, run)) continue;
    run.energy_flags.each([&](std::string_view flag) { flags.emplace(flag); });
  }
  return {flags.begin(), flags.end()};
}

/// "50.1 J ±0.4 J": mean and standard deviation of the runs; "-" where nothing is known.
std::string mean_and_sd(Cost cost, const std::vector<double>& values) {
  if (values.empty()) return std::string(kUnknownCell);
  const Summary summary = summarize(values);
  const std::string mean = text_of(cost, summary.mean);
  return summary.sd ? fmt::format("{} ± {}", mean, text_of(cost, *summary.sd)) : mean;
}

/// "49.9 J to 50.1 J", with the ± of the measurements, and the flags of all runs.
std::string mean95_and_flags(const std::vector<RunCost>& runs) {
  const std::optional<Summary> summary = summary_of(Cost::energy, runs);
  if (!summary) return std::string(kUnknownCell);
  const std::string flags = printable(joined(flags_of(runs), ", "));
  const std::string interval = mean95_text(Cost::energy, *summary);
  return flags.empty() ? interval : fmt::format("{} ({})", interval, flags);
}

/// B compared with the reference, in percent with the interval; "-" where it is unknown.
std::string change_cell(const BenchRecord& bench, const BenchCommand& command, Cost cost) {
  if (bench.reference >= bench.commands.size()) return std::string(kUnknownCell);
  const BenchCommand& reference = bench.commands[bench.reference];
  if (&reference == &command) return "reference";
  const Comparison found = compare(cost, reference.runs, command.runs, bench.is_interleaved);
  if (!found.ratio) return std::string(kUnknownCell);
  return change_text(*found.ratio);
}

bool knows_energy(const BenchRecord& bench) {
  return std::ranges::any_of(bench.commands, [](const BenchCommand& command) {
    return !values_of(Cost::energy, command.runs).empty();
  });
}

/// The columns of a table for a document. Without a sensor there are none of energy.
std::vector<Cost> shown_costs(const BenchRecord& bench) {
  if (!knows_energy(bench)) return {Cost::time, Cost::cpu, Cost::memory};
  return {Cost::energy, Cost::time, Cost::power, Cost::cpu, Cost::memory};
}

std::vector<std::string> header_cells(const BenchRecord& bench) {
  std::vector<std::string> cells = {"Command"};
  for (const Cost cost : shown_costs(bench)) {
    std::string name(name_of(cost));
    if (name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
    cells.push_back(name + " (mean ± sd)");
    if (cost == Cost::energy) cells.emplace_back("Energy, 95 % of the mean");
  }
  cells.emplace_back(knows_energy(bench) ? "Energy compared with the reference (95 %)"
                                         : "Time compared with the reference (95 %)");
  return cells;
}

std::vector<std::string> row_cells(const BenchRecord& bench, const BenchCommand& command) {
  std::vector<std::string> cells;
  for (const Cost cost : shown_costs(bench)) {
    cells.push_back(mean_and_sd(cost, values_of(cost, command.runs)));
    if (cost == Cost::energy) cells.push_back(mean95_and_flags(command.runs));
  }
  cells.push_back(change_cell(bench, command, knows_energy(bench) ? Cost::energy : Cost::time));
  return cells;
}

/// The parameters of all commands.
std::vector<std::string> parameter_columns(const BenchRecord& bench) {
  std::vector<std::string> columns;
  for (const BenchCommand& command : bench.commands) {
    for (const auto& [name, value] : command.parameters) {
      const std::string column = "parameter_" + name;
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

/// "mean,sd,median,min,max".
std::string csv_cells(Cost cost, const std::vector<RunCost>& runs) {
  const std::vector<double> values = values_of(cost, runs);
  if (values.empty()) return ",,,,";
  const Summary of = summarize(values);
  return fmt::format("{},{},{},{},{}", of.mean, of.sd ? fmt::format("{}", *of.sd) : "", of.median,
                     of.min, of.max);
}

std::string csv_row(const BenchCommand& command, const std::vector<std::string>& parameters) {
  std::string text = fmt::format("{},{},{}", shown_cell(command.command), shown_cell(command.name),
                                 command.runs.size());
  for (const Cost cost : kCosts) text += "," + csv_cells(cost, command.runs);
  for (const std::string& column : parameters) {
    const auto has_name = [&](const auto& pair) { return "parameter_" + pair.first == column; };
    const auto found = std::ranges::find_if(command.parameters, has_name);
    text += "," + (found != command.parameters.end() ? shown_cell(found->second) : "");
  }
  for (const Cost cost : kCosts) {
    const std::optional<Summary> of = summary_of(cost, command.runs);
    text += of && of->mean95 ? fmt::format(",{},{}", of->mean95->low, of->mean95->high) : ",,";
  }
  return text + "," + shown_cell(joined(flags_of(command.runs), " ")) + "\n";
}

}  // namespace

std::string to_csv(const BenchRecord& bench) {
  const std::vector<std::string> parameters = parameter_columns(bench);
  std::string text = "command,name,runs";
  for (const Cost cost : kCosts) {
    for (const char* const of : {"mean", "sd", "median", "min", "max"}) {
      text += fmt::format(",{}_{}", of, key_of(cost));
    }
  }
  for (const std::string& column : parameters) text += "," + shown_cell(column);
  for (const Cost cost : kCosts) text += fmt::format(",mean_low_{0},mean_high_{0}", key_of(cost));
  text += ",energy_flags\n";
  for (const BenchCommand& command : bench.commands) text += csv_row(command, parameters);
  return text;
}

std::string to_markdown(const BenchRecord& bench) {
  const std::vector<std::string> header = header_cells(bench);
  std::string text = fmt::format("| {} |\n|:---|", fmt::join(header, " | "));
  for (std::size_t i = 1; i < header.size(); ++i) text += "---:|";
  text += "\n";
  for (const BenchCommand& command : bench.commands) {
    text += fmt::format("| {} | {} |\n", markdown_code(command.name),
                        fmt::join(row_cells(bench, command), " | "));
  }
  return text;
}

std::string to_orgmode(const BenchRecord& bench) {
  const std::vector<std::string> header = header_cells(bench);
  std::string text = fmt::format("| {} |\n|", fmt::join(header, " | "));
  for (std::size_t i = 0; i < header.size(); ++i) text += i == 0 ? "--" : "+--";
  text += "|\n";
  for (const BenchCommand& command : bench.commands) {
    text += fmt::format("| {} | {} |\n", orgmode_code(command.name),
                        fmt::join(row_cells(bench, command), " | "));
  }
  return text;
}

std::string to_asciidoc(const BenchRecord& bench) {
  const std::vector<std::string> header = header_cells(bench);
  std::string text = "[cols=\"<";
  for (std::size_t i = 1; i < header.size(); ++i) text += ",>";
  text += "\"]\n|===\n";
  for (const std::string& cell : header) text += "| " + cell + "\n";
  for (const BenchCommand& command : bench.commands) {
    text += "\n| " + asciidoc_code(command.name) + "\n";
    for (const std::string& cell : row_cells(bench, command)) text += "| " + cell + "\n";
  }
  return text + "|===\n";
}

}  // namespace wattle
