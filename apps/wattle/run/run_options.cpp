#include "run/run_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "base/environment.hpp"
#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/unexpected.hpp"
#include "cli/value_option.hpp"
#include "output/output.hpp"
#include "usage/files/usage_units.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kRunFooter = R"(
The report goes to stderr; stdout and stdin are the command's own. The exit status is the
command's: 127 not found, 126 not executable, 125 wattle failed or an option is wrong; a command
killed by a signal ends wattle by the same signal.
In FILE, %h is the host, %r the MPI or Slurm rank (0 if none), %p the command's process number,
%j the batch job (none if none), %% a percent sign. Ranks that share a FILE are refused, except with
--append. Reports replace FILE as a whole when the command has ended; --series, --units,
--tracking-file and --usage-file at its start.

examples:
  wattle run -- make -j8
  wattle run --json run.json -o run.txt -- ./train.py
  srun wattle run --json run-%r.json -- ./solver
)";

/// The options as they are written.
struct RawRun {
  RunOptions run;
  RawRoots roots;
  RawSaveOptions save;
  std::string interval = "0.1";
  ParsedOptions values;
  const CLI::App* app = nullptr;

  void add(CLI::App& command);
  /// The command comes before "--" too.
  [[nodiscard]] RunOptions checked(const CommandLine& line) const;
  /// Without the command.
  [[nodiscard]] RunOptions checked_options() const;
};

/// Options that `wattle track` has, too.
void add_tracking(CLI::App& run, RunOptions& options) {
  add_value(run, "--tracking-file", options.tracking_path, "FILE",
            "Write one row per interval to FILE: SQLite if it ends in .sqlite, else CSV");
  add_value(run, "--usage-file", options.usage_path, "FILE",
            "Keep in FILE what is known so far, for wattle track --recover; removed at the end "
            "(default: in the state folder)");
  add_value(run, "--ram-unit", options.ram_unit, "UNIT",
            "Unit of max_ram in the JSON: bytes, kilobytes, megabytes, gigabytes, terabytes");
  add_value(run, "--gpu-ram-unit", options.gpu_ram_unit, "UNIT", "The same, of max_gpu_ram");
  add_value(run, "--time-unit", options.time_unit, "UNIT",
            "Unit of compute_time in the JSON: seconds, minutes, hours, days");
}

void RawRun::add(CLI::App& command) {
  app = &command;
  command.footer(kRunFooter);
  command.prefix_command();
  add_value(command, "-o,--output", run.report_path, "FILE",
            "Write the report to FILE, not to stderr");
  add_value(command, "--json", run.json_path, "FILE",
            "Write the report as JSON to FILE (-: stdout)");
  add_value(command, "--html", run.html_path, "FILE",
            "Write the report with plots of power as a page for a browser to FILE (-: stdout)");
  add_value(command, "--series", run.series_path, "FILE",
            "Write power and use over time to FILE, one row per interval and domain (CSV)");
  add_value(
      command, "--units", run.units_path, "FILE",
      "Write the energy of units of work to FILE, one row per unit (CSV): wattle mark --unit");
  add_tracking(command, run);
  values.add(
      command, "--otlp", run.otlp, "URL",
      "Send energy, phases and units of work to this OpenTelemetry collector at the end (OTLP "
      "over HTTP, JSON): http://HOST:4318; waits 5 s for it at most",
      [](const std::string& url) { return otlp::make_target(url, environment_variable); });
  add_save(command, save, "the run");
  add_value(command, "--gpus", run.gpus, "LIST", kGpusHelp);
  command.add_flag(
      "--append", run.append,
      "Append to the files instead of replacing them; --html is replaced all the same, a "
      "--tracking-file that holds a run is refused");
  command.add_flag("-q,--quiet", run.quiet, "No report as text");
  command.add_flag("-v,--verbose", run.verbose,
                   "List each GPU in the report, and the baseline of the share");
  add_value(command, "--interval", interval, "SECONDS", "Seconds between two readings");
  values.add(command, "--status", run.status, "SECONDS",
             "Print a line on stderr every SECONDS: time, power, CPU cores in use, memory",
             parse_interval);
  command.add_flag("--every-rank", run.every_rank,
                   "Measure energy in every MPI or Slurm rank, not only in one per machine");
  command.add_flag("--task-clock", run.task_clock,
                   "Count processor time a second time, by perf, to check the first");
  add_estimate(command, run.estimate);
  add_roots(command, roots);
}

/// The command is all words after the first "--" (`after`). Without "--" it starts at the first
/// word that is no option (`before`).
std::vector<std::string> command_of(std::vector<std::string> before, bool has_mark,
                                    const std::vector<std::string>& after) {
  if (!before.empty() && has_mark) before.emplace_back("--");
  before.insert(before.end(), after.begin(), after.end());
  if (before.empty()) throw InvalidArgument("no command given: wattle run [options] -- CMD");
  return before;
}

RunOptions RawRun::checked_options() const {
  RunOptions options = run;
  options.system = system_of(roots);
  options.interval = parse_interval(interval);
  if (options.status.count() > 0 && options.status < options.interval) {
    throw InvalidArgument(
        "--status cannot be shorter than --interval: nothing new is known sooner");
  }
  const bool is_twice_stdout = is_stdout(options.report_path) && is_stdout(options.json_path);
  if (is_twice_stdout ||
      (!options.report_path.empty() && options.report_path == options.json_path)) {
    throw InvalidArgument(
        fmt::format("-o and --json name the same file: {}", printable(options.report_path)));
  }
  if (is_stdout(options.html_path) &&
      (is_stdout(options.json_path) || is_stdout(options.report_path))) {
    throw InvalidArgument("a page on stdout is alone there: give --html a file");
  }
  (void)bytes_in(options.ram_unit, "RAM");
  (void)bytes_in(options.gpu_ram_unit, "GPU RAM");
  (void)seconds_in(options.time_unit);
  options.saving = checked_save(save);
  for (const auto& [option, path] : {std::pair("--series", &options.series_path),
                                     {"--units", &options.units_path},
                                     {"--tracking-file", &options.tracking_path},
                                     {"--usage-file", &options.usage_path}}) {
    if (*path != "-") continue;
    throw InvalidArgument(fmt::format("{} takes a file: stdout is the command's own", option));
  }
  return options;
}

RunOptions RawRun::checked(const CommandLine& line) const {
  RunOptions options = checked_options();
  std::vector<std::string> before = app->remaining();
  if (!before.empty() && before.front().starts_with('-')) {
    throw InvalidArgument(unexpected(*app, before.front()));
  }
  options.command = command_of(std::move(before), line.has_mark, line.after);
  return options;
}

/// A line without options leaves nothing to CLI11.
std::any read_without_options(const CommandLine& line) {
  if (line.words.size() > 1 && line.words[1].starts_with('-')) return {};
  RunOptions options = RawRun().checked_options();
  options.command =
      command_of({line.words.begin() + 1, line.words.end()}, line.has_mark, line.after);
  return options;
}

}  // namespace

extern constinit const Subcommand kRunSubcommand = {
    .name = "run",
    .group = HelpGroup::measure,
    .summary = "Run a command and report what it cost",
    .arguments = " -- CMD [ARG...]",
    .takes_command = true,
    .add = add_options<RawRun>,
    .read = read_without_options,
    .run = execute_with<RunOptions>,
    .opens_counters = always};

}  // namespace wattle::app
