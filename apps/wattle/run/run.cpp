// `wattle run`: fork the launcher, prepare, release, read while the command runs, report, end
// alike.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "cli/ending.hpp"
#include "cli/privileges.hpp"
#include "history/save_run.hpp"
#include "output/output.hpp"
#include "report/html/run_page.hpp"
#include "report/report.hpp"
#include "run/job.hpp"
#include "run/launcher.hpp"
#include "run/measured_run.hpp"
#include "run/run_options.hpp"
#include "run/run_report.hpp"
#include "run/running_output.hpp"
#include "run/supervisor.hpp"
#include "run/task_clock.hpp"
#include "telemetry/run_telemetry.hpp"
#include "usage/files/usage_files.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

struct Outputs {
  std::optional<Output> text;  ///< absent: stderr
  std::optional<Output> json;
  std::optional<Output> html;
  std::optional<SeriesFile> series;
  std::optional<UnitRows> unit_rows;
  std::unique_ptr<UsageFiles> files;
  std::optional<RunTelemetry> telemetry;
};

/// A file that an option names.
struct NamedFile {
  std::string_view option;
  std::string_view path;  ///< as it was given
  std::string expanded;
  bool appends = false;  ///< to what others wrote
};

/// Throws `InvalidArgument` where two options name one file, or two ranks write to one.
void check_files(const std::vector<NamedFile>& files, const Job& job) {
  for (auto file = files.begin(); file != files.end(); ++file) {
    // Ranks that add whole records to one file do not disturb each other.
    if (!file->appends) require_own_file(file->option, file->path, file->expanded, job);
    const auto other = std::find_if(files.begin(), file, [&](const NamedFile& earlier) {
      return is_same_file(earlier.expanded, file->expanded);
    });
    if (other == file) continue;
    throw InvalidArgument(fmt::format("{} and {} name the same file: {}", other->option,
                                      file->option, printable(file->path)));
  }
}

/// A tracking file is of one run: its first rows hold what does not change. Throws
/// `InvalidArgument` where one would have to be added to.
void require_no_rows(const std::string& expanded) {
  struct stat status {};
  const bool is_there = ::stat(expanded.c_str(), &status) == 0;
  if (!is_there || !S_ISREG(status.st_mode) || status.st_size == 0) return;
  throw InvalidArgument(
      fmt::format("--append cannot append to the tracking file {}, which holds another run; name "
                  "a new one (%p: the process, %j: the job)",
                  printable(expanded)));
}

/// Empty paths: no table; a usage file in the state folder. Both are replaced.
std::unique_ptr<UsageFiles> open_usage_files(const std::string& tracking,
                                             const std::string& usage) {
  const auto path = [](const std::string& name) {
    return name.empty() ? std::nullopt : std::optional<std::filesystem::path>(name);
  };
  return std::make_unique<UsageFiles>(UsageFileOptions{.tracking_file = path(tracking),
                                                       .usage_file = path(usage),
                                                       .overwrite = true,
                                                       .logs = false,
                                                       .is_late = true});
}

Outputs open_outputs(const RunOptions& options, const Job& job, const std::string& host,
                     pid_t pid) {
  const PathValues values = path_values(job, host, pid);
  const auto expand = [&](const std::string& path) { return expand_path(path, values); };
  const std::string text = expand(options.report_path);
  const std::string json = expand(options.json_path);
  const std::string html = expand(options.html_path);
  const std::string series = expand(options.series_path);
  const std::string units = expand(options.units_path);
  const std::string tracking = expand(options.tracking_path);
  const std::string usage = expand(options.usage_path);
  const bool append = options.append;
  std::vector<NamedFile> files = {{"-o", options.report_path, text, append},
                                  {"--json", options.json_path, json, append},
                                  {"--html", options.html_path, html},
                                  {"--series", options.series_path, series, append},
                                  {"--units", options.units_path, units, append},
                                  {"--tracking-file", options.tracking_path, tracking},
                                  {"--usage-file", options.usage_path, usage}};
  std::erase_if(files, [](const NamedFile& file) { return file.path.empty() || file.path == "-"; });
  check_files(files, job);
  if (append && !tracking.empty()) require_no_rows(tracking);
  Outputs outputs;
  if (!text.empty()) outputs.text = Output::open(text, append);
  if (!json.empty()) outputs.json = Output::open(json, append);
  if (!html.empty()) outputs.html = Output::open(html, false);
  if (!series.empty()) outputs.series.emplace(series, append);
  if (!units.empty()) outputs.unit_rows.emplace(units, append);
  outputs.files = open_usage_files(tracking, usage);
  if (options.otlp) outputs.telemetry.emplace(*options.otlp, environment_variable);
  return outputs;
}

void write_report(const RunOptions& options, Outputs& outputs, const Report& report) {
  const bool to_stderr = !outputs.text && !options.quiet;
  std::string text;
  bool is_written = write_or_report("run", [&] {
    text = to_text(report, to_stderr ? style_of(STDERR_FILENO) : TextStyle{},
                   options.verbose ? Detail::all : Detail::folded);
    if (outputs.text) outputs.text->write(text);
  });
  if (outputs.json) {
    is_written &= write_or_report("run", [&] {
      std::string json = to_json(report);
      // The command may have left its last line open.
      if (is_stdout(options.json_path) && !is_stdout_at_a_line_begin()) json.insert(0, 1, '\n');
      outputs.json->write(json);
    });
  }
  if (outputs.html) {
    is_written &=
        write_or_report("run", [&] { outputs.html->write(html::to_html(html::page_of(report))); });
  }
  // The measurement is not lost if its file cannot be written.
  if (to_stderr || !is_written) write_to_stderr(text);
}

void print_not_executed(const Report& report, std::string_view cause) {
  print_message("run", "cannot execute " + shell_quoted(report.command.front()), cause);
}

/// The command never ran. A report as text would only be noise, but a script may wait for the
/// JSON.
int end_unstarted(const ExecFailure& failure, Report& report, Outputs& outputs) {
  const std::string cause = std::generic_category().message(failure.error_number);
  report.exit = {.started = false, .error = "cannot be executed: " + cause};
  print_not_executed(report, cause);
  if (outputs.json) {
    (void)write_or_report("run", [&] { outputs.json->write(to_json(report)); });
  }
  return failure.exit_status();
}

/// A command that waits to be started, and what measures it.
struct PreparedRun {
  const RunOptions& options;
  Launcher& launcher;
  const TaskClock& task_clock;
  Supervisor& supervisor;
  Outputs& outputs;
  Report& report;
  const RunSaver& saver;
  /// Still there when this process ends, which closes everything.
  std::optional<Instruments>& instruments;
};

void save(const RunSaver& saver, const Report& report, bool is_quiet) {
  std::vector<std::string> ids;
  try {
    const SavedRun saved = saver.run_of(report);
    ids = saver.save({&saved, 1});
  } catch (const std::exception& failed) {
    return print_message("run", "not saved", failure_text(failed));
  }
  if (!is_quiet && !ids.empty()) write_to_stderr(fmt::format("saved as {}\n", ids.front()));
}

/// The command has ended: what fails here is said, and nothing else.
void send_telemetry(RunTelemetry& telemetry, const Report& report) {
  std::string lost;
  if (write_or_report("run", [&] { lost = telemetry.send(report); }) && !lost.empty()) {
    print_message("run", lost);
  }
}

/// Runs the command to its end and reports. Absent: it has started; its status is the supervisor's.
std::optional<int> measure(const PreparedRun& run, FoundSensors found, std::set<pid_t> strangers) {
  std::optional<RunTelemetry>& telemetry = run.outputs.telemetry;
  detail::UnitDone on_unit;
  if (telemetry) {
    on_unit = [&telemetry](const UnitEnergy& unit, const std::string& id) {
      telemetry->add(unit, id);
    };
  }
  MeasuredRun measured = measure_run({.options = run.options,
                                      .launcher = run.launcher,
                                      .task_clock = run.task_clock,
                                      .supervisor = run.supervisor,
                                      .series = std::move(run.outputs.series),
                                      .unit_rows = std::move(run.outputs.unit_rows),
                                      .on_unit = std::move(on_unit),
                                      .files = std::move(run.outputs.files),
                                      .keeps_power = run.saver.is_wanted() || run.outputs.html,
                                      .instruments = &run.instruments},
                                     std::move(found), std::move(strangers), run.report);
  // The text shows none of it, and /proc/cpuinfo is slow to read.
  const bool is_recorded = run.outputs.json || run.outputs.html || run.saver.is_wanted();
  if (is_recorded) describe_host(run.options.system, run.report.host);
  if (measured.failure) return end_unstarted(*measured.failure, run.report, run.outputs);
  write_report(run.options, run.outputs, run.report);
  for (const std::string& lost : measured.lost) {
    print_message("run", lost);
  }
  if (run.saver.is_wanted()) save(run.saver, run.report, run.options.quiet);
  if (telemetry) send_telemetry(*telemetry, run.report);
  return std::nullopt;
}

/// Lets the command run although measuring failed. There may be no memory for a text.
std::optional<int> run_unmeasured(Launcher& launcher, const Report& report, const char* why) {
  print_message("run", "the measurement failed", why);
  if (launcher.is_released()) return std::nullopt;
  launcher.release();  // `main` reports what fails here
  const std::optional<ExecFailure> failure = launcher.wait_for_exec();
  if (!failure) return std::nullopt;
  print_not_executed(report, std::generic_category().message(failure->error_number));
  return failure->exit_status();
}

}  // namespace

int execute(const RunOptions& options) {
  // First of all, while this process is small and has one thread: the command inherits the same as
  // without Wattle, and its peak memory does not include Wattle's.
  std::set<pid_t> strangers = children_before_start(options.system);
  Launcher launcher(options.command);

  const Job job = read_job(environment_variable);
  Report report = begin_report(options, job);
  TaskClock task_clock;
  FoundSensors found = with_privileges([&] {
    if (options.task_clock) task_clock = TaskClock(launcher.pid());
    return find_sensors(options, report);
  });
  Outputs outputs = open_outputs(options, job, report.host.name, launcher.pid());
  const RunSaver saver("run", options.saving, strangers);
  Supervisor supervisor(launcher.pid(), strangers);
  std::optional<Instruments> instruments;
  std::optional<int> unstarted;
  try {
    unstarted =
        measure({options, launcher, task_clock, supervisor, outputs, report, saver, instruments},
                std::move(found), std::move(strangers));
  } catch (const std::exception& error) {
    const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    if (!no_memory && !launcher.is_released()) throw;
    instruments.reset();
    unstarted = run_unmeasured(launcher, report, failure_text(error));
  }
  if (unstarted) return *unstarted;
  const Exit exit = supervisor.wait_for_exit();
  if (!exit.has_status()) print_message("run", exit.error);
  end_like(exit);
}

}  // namespace wattle::app
