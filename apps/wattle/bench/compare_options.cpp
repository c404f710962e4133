#include "bench/compare_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kCompareFooter = R"(
A and B are files: of wattle run --json (one record, or one per line with --append), of wattle history export,
or of wattle bench --export-json; or saved runs: an ID of wattle history, or a query. A query has parts with
commas between them: tag:KEY=VALUE, command:TEXT (the command line contains TEXT), host:NAME, since:TIME,
until:TIME. The runs of each command in A are compared with those of the same command in B. The ranks of a
batch job are one run, with the figures of wattle report.
A failed run is no result: --fail-above then fails, unless --ignore-failure allows it. A run whose energy is known
in part, or a job that lacks the record of a rank, is no result either.
Exit status: 0; 1 if B costs more than --fail-above allows; 2 if A and B cannot be compared, or a run is no
result; 64 for a wrong option.

examples:
  wattle compare before.json after.json
  wattle compare --fail-above 5% main.json branch.json
  wattle compare job-1.jsonl job-2.jsonl
  wattle compare --html change.html before.json after.json
  wattle compare tag:branch=main tag:branch=faster
  wattle compare 'command:make,since:7d,until:1d' 'command:make,since:1d'
)";

/// The options as they are written.
struct RawCompare {
  CompareOptions compare;
  ParsedOptions values;
  std::vector<std::string> sources;
  std::string ignored;

  void add(CLI::App& command);
  [[nodiscard]] CompareOptions checked(const CommandLine& line) const;
};

constexpr WordTable<Cost, 5> kQuantities = {{{"energy", Cost::energy},
                                             {"time", Cost::time},
                                             {"power", Cost::power},
                                             {"cpu", Cost::cpu},
                                             {"memory", Cost::memory}}};

/// "5%" or "5".
double parse_percent(std::string text) {
  const std::string given = text;
  if (text.ends_with('%')) text.pop_back();
  const auto percent = parse_double(text);
  if (!percent || *percent < 0.0) {
    throw InvalidArgument(
        fmt::format("--fail-above takes percent from 0, as 5%, not '{}'", printable(given)));
  }
  return *percent / 100.0;
}

void RawCompare::add(CLI::App& command) {
  command.footer(kCompareFooter);
  command.add_option("A B", sources, "Files, IDs of saved runs, or queries")
      ->type_name("")
      ->expected(0, 2);
  values.add(command, "--fail-above", compare.fail_above, "PERCENT",
             "Exit with 1 if the whole interval is above this: B costs more, beyond chance",
             parse_percent);
  values.add(command, "--quantity", compare.cost, "NAME",
             "What --fail-above is about: energy, time, power, cpu or memory", word_of(kQuantities),
             "energy");
  command.add_flag(
      "-i,--ignore-failure", ignored,
      "Let --fail-above compare failed runs too; =1,2: those with these exit statuses");
  command.add_flag("--force", compare.force, "Compare runs of different machines");
  command.add_flag("--json", compare.json, "As JSON on stdout");
  add_html(command, compare.html_path);
}

CompareOptions RawCompare::checked(const CommandLine& /*line*/) const {
  CompareOptions options = compare;
  check_page_path(options.html_path, options.json);
  if (sources.size() != 2) throw InvalidArgument("give two sets of runs: wattle compare A B");
  options.a = sources[0];
  options.b = sources[1];
  options.ignored = parse_ignored_failures(ignored);
  return options;
}

}  // namespace

extern constinit const Subcommand kCompareSubcommand = {.name = "compare",
                                                        .group = HelpGroup::compare,
                                                        .summary = "Compare recorded runs",
                                                        .arguments = " A B",
                                                        .add = add_options<RawCompare>,
                                                        .run = execute_with<CompareOptions>};

}  // namespace wattle::app
