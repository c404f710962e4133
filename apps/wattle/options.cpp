#include "options.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/parse.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "track_options.hpp"
#include "usage/usage_units.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr const char* kRunFooter = R"(
The report goes to stderr; stdout and stdin are the command's own. The exit status is the
command's: 127 not found, 126 not executable, 125 wattle failed or an option is wrong; a command
killed by a signal ends wattle by the same signal.
In FILE, %h is the host, %r the MPI or Slurm rank (0 if none), %p the command's process number,
%j the batch job (none if none), %% a percent sign. Ranks that share a FILE are refused, except with
--append. Reports replace FILE as a whole when the command has ended; --series, --tracking-file and
--usage-file at its start.

examples:
  wattle run -- make -j8
  wattle run --json run.json -o run.txt -- ./train.py
  srun wattle run --json run-%r.json -- ./solver
)";

constexpr const char* kPowerFooter = R"(
Prints a line each period until Ctrl-C, then the totals. A power is the mean since the line before;
an energy is that since the begin. What is not known is "-", null, or an empty cell. A line for
which the reader of stdout has no room is left out. Exit status: 0 after Ctrl-C, 2 where nothing
can be measured, 64 for a wrong option.
)";

constexpr const char* kMonitorFooter = R"(
Adds rows to files in DIR, which is made where it does not exist: hw_metrics.csv and hw_dmon.csv
(NVIDIA GPUs, as nvidia-smi writes them), cpu_metrics.csv, and hw_samples.csv (everything). With a
command it ends when that ends, with its exit status (127, 126 and 125 as wattle run) and the summary
of this run on stderr; without one at Ctrl-C or TERM (which a script sends), with the summary on
stdout. Exit status then: 0, 2 where nothing can be monitored, 64 for a wrong option, 125 where a file
could not be written to its end.
In DIR, %h is the host, %r the MPI or Slurm rank, %p the process number, %j the batch job, %% a percent
sign. Ranks that share a DIR are refused.

examples:
  wattle monitor out -- ./train.py
  srun wattle monitor out-%r -- ./solver
  wattle monitor --interval 0.5 out
)";

constexpr const char* kSummaryFooter = R"(
Reads hw_metrics.csv, cpu_metrics.csv and hw_dmon.csv in DIR, as a run monitor or nvidia-smi wrote
them; each may be missing. What is not known is "-" or null; damaged rows are left out and counted.
Exit status: 0, 2 where none of the files tells anything, 64 for a wrong option.
)";

/// What the options are read into before they are checked.
struct RawOptions {
  System system = System::from_environment();
  std::string sysfs;
  std::string procfs;
  std::string nvml_library;
  std::string interval = "0.1";
  bool json = false;
  bool cross_check = false;
  bool measure = false;
  std::optional<std::string> fix;
  bool apply = false;
  std::string period = "1";
  std::string gpus = "all";
  std::string domain;
  bool csv = false;
  RawTrackOptions track;
  std::string monitor_interval = "2";
  MonitorOptions monitor;
  std::optional<std::string> allocator_peak;
  SummaryOptions summary;
  RunOptions run;
};

/// CLI11 does not know that a command follows.
class HelpText : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    const std::string& name = app->get_name();
    if (name == "wattle") return "usage: wattle COMMAND [options]\n";
    return fmt::format("usage: wattle {} [options]{}\n", name,
                       name == "run"       ? " -- CMD [ARG...]"
                       : name == "monitor" ? " DIR [-- CMD [ARG...]]"
                       : name == "summary" ? " DIR"
                                           : "");
  }
};

void add_roots(CLI::App& command, RawOptions& raw) {
  command.add_option("--sysfs", raw.sysfs, "Folder to read instead of /sys (WATTLE_SYSFS)")
      ->type_name("DIR")
      ->check(reject_empty);
  command.add_option("--procfs", raw.procfs, "Folder to read instead of /proc (WATTLE_PROCFS)")
      ->type_name("DIR")
      ->check(reject_empty);
  command
      .add_option("--nvml-library", raw.nvml_library,
                  "Library to use instead of libnvidia-ml.so.1 (WATTLE_NVML_LIBRARY)")
      ->type_name("PATH")
      ->check(reject_empty);
}

constexpr const char* kGpusHelp =
    "GPUs: all, none, visible (by CUDA_VISIBLE_DEVICES), or numbers, UUIDs, PCI addresses with "
    "commas between";

/// What `wattle track` has too.
void add_tracking(CLI::App& run, RunOptions& options) {
  run.add_option("--tracking-file", options.tracking_path,
                 "Write one row per interval to FILE: SQLite if it ends in .sqlite, else CSV")
      ->type_name("FILE")
      ->check(reject_empty);
  run.add_option(
         "--usage-file", options.usage_path,
         "Keep in FILE what is known so far, for wattle track --recover; removed at the end "
         "(default: in the state folder)")
      ->type_name("FILE")
      ->check(reject_empty);
  run.add_option("--ram-unit", options.ram_unit,
                 "Unit of max_ram in the JSON: bytes, kilobytes, megabytes, gigabytes, terabytes")
      ->type_name("UNIT")
      ->default_str("gigabytes");
  run.add_option("--gpu-ram-unit", options.gpu_ram_unit, "The same, of max_gpu_ram")
      ->type_name("UNIT")
      ->default_str("gigabytes");
  run.add_option("--time-unit", options.time_unit,
                 "Unit of compute_time in the JSON: seconds, minutes, hours, days")
      ->type_name("UNIT")
      ->default_str("seconds");
}

void add_run(CLI::App& app, RawOptions& raw) {
  CLI::App* run = app.add_subcommand("run", "Run a command and report what it cost");
  run->footer(kRunFooter);
  run->prefix_command();
  run->add_option("-o,--output", raw.run.report_path, "Write the report to FILE, not to stderr")
      ->type_name("FILE")
      ->check(reject_empty);
  run->add_option("--json", raw.run.json_path, "Write the report as JSON to FILE (-: stdout)")
      ->type_name("FILE")
      ->check(reject_empty);
  run->add_option("--series", raw.run.series_path,
                  "Write power and use over time to FILE, one row an interval and domain (CSV)")
      ->type_name("FILE")
      ->check(reject_empty);
  add_tracking(*run, raw.run);
  run->add_option("--gpus", raw.run.gpus, kGpusHelp)->type_name("LIST")->default_str("all");
  run->add_flag("--append", raw.run.append, "Append to the files instead of replacing them");
  run->add_flag("-q,--quiet", raw.run.quiet, "No report as text");
  run->add_option("--interval", raw.interval, "Seconds between two readings")
      ->type_name("SECONDS")
      ->default_str("0.1");
  run->add_flag("--every-rank", raw.run.every_rank,
                "Measure energy in every MPI or Slurm rank, not only in one a machine");
  run->add_flag("--task-clock", raw.run.task_clock,
                "Count processor time a second time, by perf, to check the first");
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
      add_survey(app, raw, "doctor", "Say what cannot be measured here, why, and what to do");
  CLI::Option* fix =
      doctor
          ->add_option("--fix", raw.fix,
                       "Print the shell commands that let more be measured, each with its risk: "
                       "for cpu, gpu or daemon")
          ->type_name("WHAT")
          ->excludes(doctor->get_option("--json"));
  doctor->add_flag("--apply", raw.apply, "Run these commands (takes root)")->needs(fix);
}

void add_sensors(CLI::App& app, RawOptions& raw) {
  CLI::App* sensors = add_survey(app, raw, "sensors", "List what can be measured here, and how");
  sensors->add_flag("--cross-check", raw.cross_check,
                    "Read for a second what can be read in two ways, and compare");
  sensors->add_flag("--measure", raw.measure,
                    "Find out how often each value is renewed, and what reading it costs: takes up "
                    "to 7 seconds a GPU");
}

void add_power(CLI::App& app, RawOptions& raw, const char* name, const char* what) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(kPowerFooter);
  command->add_option("--gpus", raw.gpus, kGpusHelp)->type_name("LIST")->default_str("all");
  command
      ->add_option("--domain", raw.domain,
                   "Show this alone: device_instant, device_average, memory_average, "
                   "module_instant or module_average of GPUs, "
                   "package or dram of CPUs")
      ->type_name("DOMAIN")
      ->check(reject_empty);
  command->add_option("--period", raw.period, "Seconds between two lines")
      ->type_name("SECONDS")
      ->default_str("1");
  CLI::Option* json = command->add_flag("--json", raw.json, "JSON lines");
  command->add_flag("--csv", raw.csv, "Rows with commas between, one a device; totals on stderr")
      ->excludes(json);
  add_roots(*command, raw);
}

void add_monitor(CLI::App& app, RawOptions& raw) {
  CLI::App* command =
      app.add_subcommand("monitor", "Record GPUs, CPUs, memory and disks to files in a folder");
  command->footer(kMonitorFooter);
  command->add_option("DIR", raw.monitor.folder, "The folder")
      ->type_name("")
      ->required()
      ->check(reject_empty);
  command
      ->add_option("--interval", raw.monitor_interval,
                   "Seconds between two rows, from 0.001 to 86400")
      ->type_name("SECONDS")
      ->default_str("2");
  command->add_flag("--overwrite", raw.monitor.overwrite,
                    "Overwrite existing files instead of adding to them");
  command->add_flag("-q,--quiet", raw.monitor.quiet, "No summary at the end");
  add_roots(*command, raw);
}

MonitorOptions checked_monitor(RawOptions& raw, bool has_mark, std::vector<std::string> command) {
  if (has_mark && command.empty()) {
    throw InvalidArgument("no command given after --: wattle monitor DIR -- CMD");
  }
  MonitorOptions monitor = std::move(raw.monitor);
  monitor.system = raw.system;
  monitor.interval = parse_seconds(raw.monitor_interval, "--interval",
                                   HardwareMonitorOptions::kShortestInterval.count(),
                                   HardwareMonitorOptions::kLongestInterval.count());
  monitor.command = std::move(command);
  return monitor;
}

void add_summary(CLI::App& app, RawOptions& raw) {
  CLI::App* command =
      app.add_subcommand("summary", "Summarize the files that a run monitor left in a folder");
  command->footer(kSummaryFooter);
  command->add_option("DIR", raw.summary.folder, "The folder")
      ->type_name("")
      ->required()
      ->check(reject_empty);
  command->add_flag("--json", raw.json, "As JSON on stdout");
  command
      ->add_option(
          "--allocator-peak-mb", raw.allocator_peak,
          "The most MiB that the program's own allocator had in use, for the summary; None: "
          "not known")
      ->type_name("X");
}

SummaryOptions checked_summary(RawOptions& raw) {
  SummaryOptions summary = std::move(raw.summary);
  summary.json = raw.json;
  // "None" is what the probe prints where it does not know.
  if (!raw.allocator_peak || *raw.allocator_peak == "None") return summary;
  summary.allocator_peak_mb = parse_double(*raw.allocator_peak);
  if (!summary.allocator_peak_mb || *summary.allocator_peak_mb < 0.0) {
    throw InvalidArgument(
        fmt::format("--allocator-peak-mb takes a number of MiB from 0 on, or None, not '{}'",
                    printable(*raw.allocator_peak)));
  }
  return summary;
}

Answer error(std::string_view command, std::string_view message) {
  const bool is_run = command == "run";
  return {
      .text = fmt::format("wattle{}{}: {}\nTry: wattle{}{} --help\n", command.empty() ? "" : " ",
                          command, message, command.empty() ? "" : " ", command),
      .is_error = true,
      .exit_status = is_run ? kRunFailed : kUsageError};
}

/// The roots and the library, which somebody else's privileges must not be turned on: see `System`.
void choose_roots(RawOptions& raw) {
  const bool given = !raw.sysfs.empty() || !raw.procfs.empty() || !raw.nvml_library.empty();
  if (given && ::getauxval(AT_SECURE) != 0) {
    throw InvalidArgument(
        "--sysfs, --procfs and --nvml-library cannot be used with a wattle that has privileges of "
        "its own (setuid or file capabilities)");
  }
  if (!raw.sysfs.empty()) raw.system.sysfs = raw.sysfs;
  if (!raw.procfs.empty()) raw.system.procfs = raw.procfs;
  if (!raw.nvml_library.empty()) raw.system.nvml_library = raw.nvml_library;
}

/// The command is what stands behind the first "--", or begins at the first word that is no
/// option.
std::vector<std::string> command_of(std::vector<std::string> before, bool has_mark,
                                    const std::vector<std::string>& behind) {
  if (!before.empty() && before.front().starts_with('-')) {
    throw InvalidArgument(fmt::format("unknown option {}", printable(before.front())));
  }
  if (!before.empty() && has_mark) before.emplace_back("--");
  before.insert(before.end(), behind.begin(), behind.end());
  if (before.empty()) throw InvalidArgument("no command given: wattle run [options] -- CMD");
  return before;
}

RunOptions checked_run(RawOptions& raw) {
  RunOptions run = std::move(raw.run);
  run.system = raw.system;
  run.interval = parse_interval(raw.interval);
  if (!run.report_path.empty() && run.report_path == run.json_path) {
    throw InvalidArgument(
        fmt::format("-o and --json name the same file: {}", printable(run.report_path)));
  }
  (void)bytes_in(run.ram_unit, "RAM");
  (void)bytes_in(run.gpu_ram_unit, "GPU RAM");
  (void)seconds_in(run.time_unit);
  for (const auto& [option, path] : {std::pair("--series", &run.series_path),
                                     {"--tracking-file", &run.tracking_path},
                                     {"--usage-file", &run.usage_path}}) {
    if (*path != "-") continue;
    throw InvalidArgument(fmt::format("{} takes a file: stdout is the command's own", option));
  }
  return run;
}

void choose_domain(const std::string& name, PowerOptions& options) {
  if (name.empty()) return;
  if (name == "package") {
    options.cpu_domain = DomainKind::package;
  } else if (name == "dram") {
    options.cpu_domain = DomainKind::dram;
  } else {
    try {
      options.gpu_domain = parse_power_domain(name);
    } catch (const InvalidArgument&) {
      throw InvalidArgument(
          fmt::format("--domain takes device_instant, device_average, memory_average, "
                      "module_instant, module_average, package or dram, not '{}'",
                      printable(name)));
    }
  }
}

PowerOptions checked_power(const RawOptions& raw, PowerShows shows) {
  PowerOptions options{.system = raw.system,
                       .shows = shows,
                       .format = raw.json  ? PowerFormat::json
                                 : raw.csv ? PowerFormat::csv
                                           : PowerFormat::text,
                       .period = parse_interval(raw.period, "--period"),
                       .gpus = raw.gpus};
  choose_domain(raw.domain, options);
  return options;
}

DoctorOptions checked_doctor(const RawOptions& raw) {
  DoctorOptions options{.system = raw.system, .json = raw.json, .apply = raw.apply};
  if (!raw.fix) return options;
  if (raw.fix == "cpu") {
    options.fix = FixTarget::cpu;
  } else if (raw.fix == "gpu") {
    options.fix = FixTarget::gpu;
  } else if (raw.fix == "daemon") {
    options.fix = FixTarget::daemon;
  } else {
    throw InvalidArgument(
        fmt::format("--fix takes cpu, gpu or daemon, not '{}'", printable(*raw.fix)));
  }
  return options;
}

/// The sub-commands, as messages list them.
constexpr std::array kCommands = {"run",     "track",  "power",   "energy", "monitor",
                                  "summary", "stream", "sensors", "doctor"};
constexpr const char* kSayWhich =
    "run, track, power, energy, monitor, summary, stream, sensors or doctor";

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  CLI::App app("Measure the energy, CPU time and memory of a command.", "wattle");
  RawOptions raw;
  app.set_version_flag("--version", "wattle " + version_text());
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpText>());
  add_run(app, raw);
  add_roots(*add_track(app, raw.track), raw);
  add_sensors(app, raw);
  add_doctor(app, raw);
  add_power(app, raw, "power", "Print the power of CPUs and GPUs until Ctrl-C");
  add_power(app, raw, "energy", "Print the energy of CPUs and GPUs until Ctrl-C");
  add_monitor(app, raw);
  add_summary(app, raw);
  app.add_subcommand("stream", "Follow the power of other machines until Ctrl-C");

  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::string name = words.empty() ? "" : words.front();
  if (name == "stream") return StreamWords{{words.begin() + 1, words.end()}};
  std::vector<std::string> behind;
  bool has_mark = false;
  if (name == "run" || name == "monitor") {
    const auto mark = std::ranges::find(words, "--");
    has_mark = mark != words.end();
    if (has_mark) behind.assign(mark + 1, words.end());
    words.erase(mark, words.end());
  }
  const bool known = std::ranges::find(kCommands, name) != kCommands.end();
  const std::string_view context = known ? std::string_view(name) : std::string_view();
  try {
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    choose_roots(raw);
    if (name == "sensors")
      return SensorsOptions{raw.system, raw.json, raw.cross_check, raw.measure};
    if (name == "doctor") return checked_doctor(raw);
    if (name == "track") return checked_track(raw.track, raw.system);
    if (name == "power") return checked_power(raw, PowerShows::power);
    if (name == "energy") return checked_power(raw, PowerShows::energy);
    if (name == "monitor") return checked_monitor(raw, has_mark, std::move(behind));
    if (name == "summary") return checked_summary(raw);
    RunOptions run = checked_run(raw);
    run.command = command_of(app.get_subcommand("run")->remaining(), has_mark, behind);
    return run;
  } catch (const CLI::CallForHelp&) {
    const CLI::App* asked = known ? app.get_subcommand(name) : &app;
    return Answer{.text = asked->help()};
  } catch (const CLI::CallForVersion&) {
    return Answer{.text = "wattle " + version_text() + "\n"};
  } catch (const CLI::RequiredError&) {
    if (known) return error(context, fmt::format("say which folder: wattle {} DIR", name));
    if (!name.empty()) {
      return error(context,
                   fmt::format("there is no command {}: say {}", shell_quoted(name), kSayWhich));
    }
    return error(context, fmt::format("say what to do: {}", kSayWhich));
  } catch (const CLI::ParseError& wrong) {
    return error(context, printable(wrong.what()));
  } catch (const Error& wrong) {
    return error(context, wrong.what());
  }
}

}  // namespace wattle::app
