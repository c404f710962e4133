// `wattle report`: many runs as one.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "history/run_sources.hpp"
#include "output/output.hpp"
#include "runs/html/result_pages.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kReportFooter = R"(
Reports many runs as one: the ranks and nodes of a batch job, or any runs. FILE holds one record, or
one per line, as wattle run --json and wattle history export write them (-: stdin); ID names a saved
run, and a query such as tag:job=77,host:n1 many (see wattle compare --help). Energy of a machine
counts once, however many ranks recorded it; runs that overlap in time on one machine are named, as are
ranks without a record.
Exit status: 0, 1 if a file or ID cannot be read, 2 if none can, 64 for a wrong option.

examples:
  srun wattle run --json run-%r.json -- ./solver; wattle report run-*.json
  wattle report --json k3m9 7xq2
  wattle report --html job.html run-*.json
)";

struct ReportOptions {
  std::vector<std::string> words;  ///< files and IDs; not empty
  bool json = false;
  bool brief = false;
  std::string html_path{};  ///< empty: none; "-": stdout, in place of the text
};

/// The options as they are written.
struct RawReport {
  ReportOptions report;

  void add(CLI::App& command) {
    command.footer(kReportFooter);
    command.add_option("RUN", report.words, "Files of records, IDs of saved runs, or queries")
        ->type_name("");
    command.add_flag("--json", report.json, "As JSON on stdout");
    command.add_flag("--brief", report.brief, "One line for each job");
    add_html(command, report.html_path);
  }
  [[nodiscard]] ReportOptions checked(const CommandLine& /*line*/) const {
    if (report.words.empty()) throw InvalidArgument("a run is missing: wattle report FILE|ID...");
    check_page_path(report.html_path, report.json);
    if (report.brief && report.json) throw InvalidArgument("--brief and --json exclude each other");
    return report;
  }
};

int execute(const ReportOptions& options) {
  constexpr int kIncomplete = 1;
  constexpr int kNothing = 2;
  const LoadedRuns loaded = load_runs(options.words);
  for (const std::string& problem : loaded.problems) {
    print_message("report", problem);
  }
  if (loaded.records.empty()) {
    print_message("report", "there is no run to report");
    return kNothing;
  }
  const std::vector<JobReport> reports = job_reports(loaded.records);
  write_result(options.json    ? to_json(reports)
               : options.brief ? to_brief_text(reports)
                               : to_text(reports, style_of(STDOUT_FILENO)),
               options.html_path, [&] { return html::to_html(html::page_of(reports)); });
  return loaded.problems.empty() ? 0 : kIncomplete;
}

}  // namespace

extern constinit const Subcommand kReportSubcommand = {
    .name = "report",
    .group = HelpGroup::compare,
    .summary = "Report many runs as one: ranks, nodes, jobs",
    .arguments = " FILE|ID...",
    .add = add_options<RawReport>,
    .run = execute_with<ReportOptions>};

}  // namespace wattle::app
