#include "cli/raw_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "cli/value_option.hpp"

namespace wattle::app {
namespace {

constexpr const char* kWattleFooter = R"(
wattle help COMMAND lists the options of a command.
)";

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

constexpr const char* kPowerFooter = R"(
Prints a line per period until Ctrl-C, then the totals; on a terminal, a table that is redrawn in
place. A power is the mean since the line before; an energy is counted from the start. An unknown
value is "-", null, or an empty cell; ">=": a part is unknown. Lines are skipped if the reader of
stdout does not keep up. With --estimate a machine without sensors has a range. Exit status: 0 after
Ctrl-C, 2 if nothing can be measured, 64 for a wrong option, 125 if stdout cannot be written.
)";

constexpr const char* kMonitorFooter = R"(
Adds rows to files in DIR, which is made where it does not exist: hw_metrics.csv and hw_dmon.csv
(NVIDIA GPUs, as nvidia-smi writes them), cpu_metrics.csv, and hw_samples.csv (everything). With a
command it ends when that ends, with its exit status (127, 126 and 125 as wattle run) and the summary
of this run on stderr; without one at Ctrl-C or TERM (which a script sends), with the summary on
stdout. Exit status then: 0, 2 where nothing can be monitored, 125 where a file could not be written
completely. 64: a wrong option.
In DIR, %h is the host, %r the MPI or Slurm rank, %p the process number, %j the batch job, %% a percent
sign. Ranks that share a DIR are refused.

examples:
  wattle monitor out -- ./train.py
  srun wattle monitor out-%r -- ./solver
  wattle monitor --interval 0.5 out
)";

constexpr const char* kSummaryFooter = R"(
Reads hw_samples.csv, hw_metrics.csv, cpu_metrics.csv and hw_dmon.csv in DIR, as a run monitor or
nvidia-smi wrote them; each may be missing. hw_samples.csv has everything that a run monitor measured,
and counts first. The content of a single file shows its kind; UTF-16, quotes, tabs, semicolons and the
units of a header are understood. What is unknown is "-" or null; damaged rows are skipped and
counted. Exit status: 0, 2 where no value can be read, 64 for a wrong option, 125 where stdout cannot be written.
)";

constexpr const char* kDoctorFooter = R"(
Exit status: 0 if all energy can be measured, 1 if a part cannot, 2 if none can, 64 for a wrong option,
125 if stdout cannot be written. With --fix: 0, 1 if no command helps here, 125 if a command fails.
)";

constexpr const char* kBaselineFooter = R"(
Keeps the result in $XDG_STATE_HOME/wattle/baseline (or ~/.local/state) for a day, or until the machine
is restarted or reconfigured. wattle run uses it to separate idle energy from the command's.
Nothing else should run: with more than 5 % of the CPU cores and more than a quarter of one in use
nothing is kept. Exit status: 0, 1 if the machine was not idle or Ctrl-C ended it, 2 if no CPU energy
can be measured, 64 for a wrong option, 125 if the result cannot be written.
)";

/// What follows the options of a command.
struct Arguments {
  std::string_view command;
  std::string_view text;
};
constexpr std::array<Arguments, 11> kArguments = {{{"run", " -- CMD [ARG...]"},
                                                   {"monitor", " DIR [-- CMD [ARG...]]"},
                                                   {"top", " [SERVER...]"},
                                                   {"calibrate", " --meter FILE SERIES..."},
                                                   {"summary", " DIR"},
                                                   {"report", " FILE|ID..."},
                                                   {"mark", " NAME"},
                                                   {"history", " [ACTION [ID|FILE...]]"},
                                                   {"config", " [ACTION [NAME [VALUE]]]"},
                                                   {"bench", " CMD..."},
                                                   {"compare", " A B"}}};

/// CLI11 does not know that a command follows.
class HelpText : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    const std::string& name = app->get_name();
    if (name == "wattle") return "usage: wattle COMMAND [options]\n";
    const auto* const takes = std::ranges::find(kArguments, name, &Arguments::command);
    return fmt::format("usage: wattle {} [options]{}\n", name,
                       takes == kArguments.end() ? "" : takes->text);
  }
};

void add_roots(CLI::App& command, RawOptions& raw) {
  add_value(command, "--sysfs", raw.sysfs, "DIR", "Folder to read instead of /sys (WATTLE_SYSFS)");
  add_value(command, "--procfs", raw.procfs, "DIR",
            "Folder to read instead of /proc (WATTLE_PROCFS)");
  add_value(command, "--nvml-library", raw.nvml_library, "PATH",
            "Library to use instead of libnvidia-ml.so.1 (WATTLE_NVML_LIBRARY)");
}

constexpr const char* kGpusHelp =
    "GPUs: all, none, visible (to CUDA and HIP programs), or comma-separated numbers, UUIDs, PCI "
    "addresses";

/// What `wattle track` has too.
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

void add_run(CLI::App& app, RawOptions& raw) {
  CLI::App* run = app.add_subcommand("run", "Run a command and report what it cost");
  run->footer(kRunFooter);
  run->prefix_command();
  add_value(*run, "-o,--output", raw.run.report_path, "FILE",
            "Write the report to FILE, not to stderr");
  add_value(*run, "--json", raw.run.json_path, "FILE",
            "Write the report as JSON to FILE (-: stdout)");
  add_value(*run, "--html", raw.run.html_path, "FILE",
            "Write the report with plots of power as a page for a browser to FILE (-: stdout)");
  add_value(*run, "--series", raw.run.series_path, "FILE",
            "Write power and use over time to FILE, one row per interval and domain (CSV)");
  add_value(
      *run, "--units", raw.run.units_path, "FILE",
      "Write the energy of units of work to FILE, one row per unit (CSV): wattle mark --unit");
  add_tracking(*run, raw.run);
  add_save(*run, raw.save, "the run");
  add_value(*run, "--gpus", raw.run.gpus, "LIST", kGpusHelp);
  run->add_flag("--append", raw.run.append,
                "Append to the files instead of replacing them; --html is replaced");
  run->add_flag("-q,--quiet", raw.run.quiet, "No report as text");
  run->add_flag("-v,--verbose", raw.run.verbose,
                "List each GPU in the report, and the baseline of the share");
  add_value(*run, "--interval", raw.interval, "SECONDS", "Seconds between two readings");
  add_value(*run, "--status", raw.status, "SECONDS",
            "Print a line on stderr every SECONDS: time, power, CPU cores in use, memory");
  run->add_flag("--every-rank", raw.run.every_rank,
                "Measure energy in every MPI or Slurm rank, not only in one per machine");
  run->add_flag("--task-clock", raw.run.task_clock,
                "Count processor time a second time, by perf, to check the first");
  add_estimate(*run, raw.run.estimate);
  add_roots(*run, raw);
}

CLI::App* add_survey(CLI::App& app, RawOptions& raw, const char* name, const char* what) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_flag("--json", raw.json, "As JSON on stdout");
  add_roots(*command, raw);
  return command;
}

void add_doctor(CLI::App& app, RawOptions& raw) {
  CLI::App* doctor =
      add_survey(app, raw, "doctor", "List what cannot be measured here, why, and how to fix it");
  doctor->footer(kDoctorFooter);
  CLI::Option* fix =
      doctor
          ->add_option("--fix", raw.fix,
                       "Print the shell commands that allow more measurements, each with its risk: "
                       "cpu, gpu or daemon")
          ->type_name("WHAT")
          ->excludes(doctor->get_option("--json"));
  doctor->add_flag("-v,--verbose", raw.verbose, "Show the proof and the risk of each remedy too");
  doctor->add_flag("--apply", raw.apply, "Run these commands (takes root)")->needs(fix);
}

void add_sensors(CLI::App& app, RawOptions& raw) {
  CLI::App* sensors = add_survey(app, raw, "sensors", "List what can be measured here, and how");
  sensors->add_flag("--cross-check", raw.cross_check,
                    "Read for a second what can be read in two ways, and compare");
  sensors->add_flag("--measure", raw.measure,
                    "Find out how often each value is renewed, and what reading it costs: takes up "
                    "to 7 seconds a GPU; later runs use what was found");
}

void add_power(CLI::App& app, RawOptions& raw, const char* name, const char* what) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(kPowerFooter);
  add_value(*command, "--gpus", raw.gpus, "LIST", kGpusHelp);
  CLI::Option* domain =
      add_value(*command, "--domain", raw.domain, "DOMAIN",
                "Show this alone: device_instant, device_average, memory_average, "
                "module_instant or module_average of GPUs, "
                "package or dram of CPUs");
  add_estimate(*command, raw.run.estimate)->excludes(domain);
  add_value(*command, "--period", raw.period, "SECONDS", "Seconds between two lines");
  CLI::Option* json = command->add_flag("--json", raw.json, "JSON lines");
  command->add_flag("--csv", raw.csv, "CSV, one row per device and line; totals on stderr")
      ->excludes(json);
  add_roots(*command, raw);
}

void add_baseline(CLI::App& app, RawOptions& raw) {
  CLI::App* command =
      app.add_subcommand("baseline", "Measure the power of the idle machine, for shares of runs");
  command->footer(kBaselineFooter);
  add_value(*command, "--seconds", raw.baseline_length, "SECONDS",
            "Seconds to measure, from 2 to 3600");
  command->add_flag("--json", raw.json, "As JSON on stdout");
  add_roots(*command, raw);
}

void add_monitor(CLI::App& app, RawOptions& raw) {
  CLI::App* command =
      app.add_subcommand("monitor", "Record GPUs, CPUs, memory and disks to files in a folder");
  command->footer(kMonitorFooter);
  command->add_option("DIR", raw.monitor.folder, "The folder")->type_name("")->required();
  add_value(*command, "--interval", raw.monitor_interval, "SECONDS",
            "Seconds between two rows, from 0.001 to 86400");
  add_value(*command, "--gpus", raw.monitor.gpus, "LIST", kGpusHelp);
  command->add_flag("--overwrite", raw.monitor.overwrite,
                    "Overwrite existing files instead of adding to them");
  command->add_flag("-q,--quiet", raw.monitor.quiet, "No summary at the end");
  add_roots(*command, raw);
}

void add_summary(CLI::App& app, RawOptions& raw) {
  CLI::App* command = app.add_subcommand(
      "summary", "Summarize the files of a run monitor, or one file of nvidia-smi");
  command->footer(kSummaryFooter);
  command
      ->add_option("DIR", raw.summary.path,
                   "A folder with files of wattle monitor or nvidia-smi; or one such file, of any "
                   "name; - for stdin")
      ->type_name("")
      ->required();
  command->add_flag("--json", raw.json, "As JSON on stdout");
  command
      ->add_option(
          "--allocator-peak-mb", raw.allocator_peak,
          "The most MiB that the program's own allocator had in use, for the summary; None: "
          "unknown")
      ->type_name("X");
  command
      ->add_option("--gpus-in-file", raw.gpus_in_file,
                   "The number of GPUs that a log of nvidia-smi without an index has rows of")
      ->type_name("N");
}

/// The command `only`, or all if it is empty.
void add_chosen(CLI::App& app, RawOptions& raw, std::string_view only) {
  const auto add = [only](std::string_view name, const auto& add_it) {
    if (only.empty() || only == name) add_it();
  };
  add("run", [&] { add_run(app, raw); });
  add("bench", [&] { add_roots(*add_bench(app, raw.bench), raw); });
  add("compare", [&] { add_compare(app, raw.compare); });
  add("track", [&] { add_roots(*add_track(app, raw.track), raw); });
  add("sensors", [&] { add_sensors(app, raw); });
  add("doctor", [&] { add_doctor(app, raw); });
  add("power",
      [&] { add_power(app, raw, "power", "Print the power of CPUs and GPUs until Ctrl-C"); });
  add("energy",
      [&] { add_power(app, raw, "energy", "Print the energy of CPUs and GPUs until Ctrl-C"); });
  add("baseline", [&] { add_baseline(app, raw); });
  add("calibrate", [&] { add_calibrate(app, raw.calibrate); });
  add("top", [&] { add_roots(*add_top(app, raw.top), raw); });
  add("monitor", [&] { add_monitor(app, raw); });
  add("summary", [&] { add_summary(app, raw); });
  add("history", [&] { add_history(app, raw.history); });
  add("config", [&] { add_config(app, raw.history); });
  add("mark", [&] { add_mark(app, raw.history); });
  add("report", [&] { add_report(app, raw.history); });
  add("stream",
      [&] { app.add_subcommand("stream", "Follow the power of other machines until Ctrl-C"); });
}

}  // namespace

void add_commands(CLI::App& app, RawOptions& raw, std::string_view only) {
  app.formatter(std::make_shared<HelpText>());
  app.footer(kWattleFooter);
  add_chosen(app, raw, only);
  if (app.get_subcommands({}).empty()) add_chosen(app, raw, {});
}

}  // namespace wattle::app
