#include "bench/compare_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/value_option.hpp"
#include "output/page_output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kCompareFooter = R"(
A and B are files: of wattle run --json (one record, or one per line with --append), of wattle history export,
or of wattle bench --export-json; or saved runs: an ID of wattle history, or a query. A query has parts with
commas between them: tag:KEY=VALUE, command:TEXT (the command line contains TEXT), host:NAME, since:TIME,
until:TIME. The runs of each command in A are compared with those of the same command in B. The ranks of a
batch job are one run, with the figures of wattle report.
A failed run is no result: --fail-above then fails, unless --ignore-failure allows it.
Exit status: 0; 1 if B costs more than --fail-above allows; 2 if A and B cannot be compared, or a run failed;
64 for a wrong option.

examples:
  wattle compare before.json after.json
  wattle compare --fail-above 5% main.json branch.json
  wattle compare job-1.jsonl job-2.jsonl
  wattle compare --html change.html before.json after.json
  wattle compare tag:branch=main tag:branch=faster
  wattle compare 'command:make,since:7d,until:1d' 'command:make,since:1d'
)";

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

}  // namespace

void add_compare(CLI::App& app, RawCompareOptions& raw) {
  CLI::App* compare = app.add_subcommand("compare", "Compare recorded runs");
  compare->footer(kCompareFooter);
  compare->add_option("A B", raw.sources, "Files, IDs of saved runs, or queries")
      ->type_name("")
      ->expected(0, 2);
  add_value(*compare, "--fail-above", raw.fail_above, "PERCENT",
            "Exit with 1 if the whole interval is above this: B costs more, beyond chance");
  add_value(*compare, "--quantity", raw.quantity, "NAME",
            "What --fail-above is about: energy, time, power, cpu or memory");
  compare->add_flag(
      "-i,--ignore-failure", raw.ignored,
      "Let --fail-above compare failed runs too; =1,2: those with these exit statuses");
  compare->add_flag("--force", raw.compare.force, "Compare runs of different machines");
  compare->add_flag("--json", raw.compare.json, "As JSON on stdout");
  add_html(*compare, raw.compare.html_path);
}

CompareOptions checked_compare(const RawCompareOptions& raw) {
  CompareOptions options = raw.compare;
  check_page_path(options.html_path, options.json);
  constexpr WordTable<Cost, 5> kQuantities = {{{"energy", Cost::energy},
                                               {"time", Cost::time},
                                               {"power", Cost::power},
                                               {"cpu", Cost::cpu},
                                               {"memory", Cost::memory}}};
  if (raw.sources.size() != 2) throw InvalidArgument("give two sets of runs: wattle compare A B");
  options.a = raw.sources[0];
  options.b = raw.sources[1];
  options.ignored = parse_ignored_failures(raw.ignored);
  options.cost = value_of_word("--quantity", raw.quantity, kQuantities);
  if (!raw.fail_above.empty()) options.fail_above = parse_percent(raw.fail_above);
  return options;
}

}  // namespace wattle::app
