// `wattle monitor`: writes what the machine does to files, until a command ends or Ctrl-C.
#include "monitor/monitor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/text/text.hpp"
#include "cli/answer.hpp"
#include "cli/ending.hpp"
#include "cli/privileges.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "cli/waiting.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "run/job.hpp"
#include "run/launcher.hpp"
#include "run/supervisor.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingToMonitor = 2;

/// Throws `InvalidArgument` where another rank of the job would write there too.
std::string folder_of(const MonitorOptions& options, pid_t pid) {
  const Job job = read_job(environment_variable);
  std::string folder = expand_path(options.folder, path_values(job, host_name(), pid));
  require_own_folder("DIR", options.folder, folder, job);
  return folder;
}

std::string summary_of(const HardwareFiles& files) {
  return build_resource_summary(files).to_text();
}

HardwareMonitor open_monitor(const MonitorOptions& options) try {
  return with_privileges([&] {
    return HardwareMonitor({.interval = options.interval,
                            .overwrite = options.overwrite,
                            .gpus = parse_gpus(options.gpus),
                            .system = options.system});
  });
} catch (const NoSuchDevice& error) {
  throw InvalidArgument(error.what());  // --gpus names it
}

/// Until Ctrl-C or TERM; shows for how long.
void wait_for_end(const Fd& end, const MonitorOptions& options, const std::string& folder) {
  constexpr int kShowEveryMs = 1000;
  std::optional<Progress> progress;
  if (!options.quiet) progress.emplace("wattle monitor");
  const TimePoint begin = machine_clock().now();
  pollfd waited{.fd = end.get(), .events = POLLIN, .revents = 0};
  do {
    if (progress) {
      const double elapsed_s = Seconds(machine_clock().now() - begin).count();
      progress->show(fmt::format("recording to {}{}; Ctrl-C or TERM ends it", printable(folder),
                                 elapsed_s < 1.0 ? "" : fmt::format(" for {:.0f} s", elapsed_s)));
    }
    patient_poll({&waited, 1}, progress ? kShowEveryMs : -1);
  } while (waited.revents == 0 || !has_come(end));
}

int until_signal(const MonitorOptions& options) {
  const Fd end = end_signals();
  const std::string folder = folder_of(options, ::getpid());
  std::optional<Output> output;
  if (!options.quiet) output = Output::open("-", false);
  HardwareMonitor monitor = open_monitor(options);
  monitor.start(folder);
  wait_for_end(end, options, folder);
  const HardwareFiles files = monitor.stop();
  if (output) output->write(summary_of(files));
  return files.lost_rows == 0 ? 0 : kRunFailed;
}

/// Runs the command to its end while the monitor writes. Absent: it has started; its status is the
/// supervisor's.
std::optional<int> monitor_command(const MonitorOptions& options, const std::string& folder,
                                   Launcher& launcher, Supervisor& supervisor,
                                   HardwareMonitor& monitor) {
  try {
    monitor.start(folder);
  } catch (const NoSuchDevice& nothing) {  // the command is what matters
    print_message("monitor", nothing.what());
  }
  launcher.release();
  const std::optional<ExecFailure> failure = launcher.wait_for_exec();
  if (!failure) supervisor.wait_until_ended();
  std::optional<HardwareFiles> files;
  if (monitor.is_started()) files = monitor.stop();
  if (failure) {
    print_message("monitor", "cannot execute " + shell_quoted(options.command.front()),
                  std::generic_category().message(failure->error_number));
    return failure->exit_status();
  }
  if (!options.quiet && files) write_to_stderr(summary_of(*files));
  return std::nullopt;
}

/// Starts and ends the command as `wattle run` does.
int around_command(const MonitorOptions& options) {
  std::set<pid_t> strangers = children_before_start(options.system);
  Launcher launcher(options.command);
  const std::string folder = folder_of(options, launcher.pid());
  HardwareMonitor monitor = open_monitor(options);
  Supervisor supervisor(launcher.pid(), std::move(strangers));
  try {
    const auto unstarted = monitor_command(options, folder, launcher, supervisor, monitor);
    if (unstarted) return *unstarted;
  } catch (const std::exception& error) {
    if (!launcher.is_released()) throw;
    // The measurement is lost, but not the command's status.
    print_message("monitor", error.what());
  }
  const Exit exit = supervisor.wait_for_exit();
  if (!exit.has_status()) print_message("monitor", exit.error);
  end_like(exit);
}

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

/// The options as they are written.
struct RawMonitor {
  MonitorOptions monitor;
  ParsedOptions values;
  RawRoots roots;

  void add(CLI::App& command);
  [[nodiscard]] MonitorOptions checked(const CommandLine& line) const;
};

void RawMonitor::add(CLI::App& command) {
  command.footer(kMonitorFooter);
  command.add_option("DIR", monitor.folder, "The folder")->type_name("REQUIRED");
  values.add(command, "--interval", monitor.interval, "SECONDS",
             "Seconds between two rows, from 0.001 to 86400",
             seconds_within(Seconds(HardwareMonitorOptions::kShortestInterval).count(),
                            Seconds(HardwareMonitorOptions::kLongestInterval).count()),
             "2");
  add_value(command, "--gpus", monitor.gpus, "LIST", kGpusHelp);
  command.add_flag("--overwrite", monitor.overwrite,
                   "Overwrite existing files instead of adding to them");
  command.add_flag("-q,--quiet", monitor.quiet, "No summary at the end");
  add_roots(command, roots);
}

MonitorOptions RawMonitor::checked(const CommandLine& line) const {
  if (monitor.folder.empty()) throw InvalidArgument("a folder is missing: wattle monitor DIR");
  MonitorOptions options = monitor;
  options.system = system_of(roots);
  if (line.has_mark && line.after.empty()) {
    throw InvalidArgument("no command given after --: wattle monitor DIR -- CMD");
  }
  (void)parse_gpus(options.gpus);
  options.command = line.after;
  return options;
}

}  // namespace

int execute(const MonitorOptions& options) {
  set_log([](std::string_view message) { print_message("monitor", message); });
  try {
    return options.command.empty() ? until_signal(options) : around_command(options);
  } catch (const NoSuchDevice& nothing) {
    print_message("monitor", nothing.what());
    return kNothingToMonitor;
  }
}

extern constinit const Subcommand kMonitorSubcommand = {
    .name = "monitor",
    .group = HelpGroup::measure,
    .summary = "Record GPUs, CPUs, memory and disks to files in a folder",
    .arguments = " DIR [-- CMD [ARG...]]",
    .takes_command = true,
    .add = add_options<RawMonitor>,
    .run = execute_with<MonitorOptions>,
    .opens_counters = always};

}  // namespace wattle::app
