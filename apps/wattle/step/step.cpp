// `wattle step`: measures this machine while a step of a Slurm job runs, and adds steps up.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/files/state_folder.hpp"
#include "base/text/text.hpp"
#include "cli/privileges.hpp"
#include "cli/waiting.hpp"
#include "history/run_sources.hpp"
#include "history/save_run.hpp"
#include "output/output.hpp"
#include "run/measured_run.hpp"
#include "run/run_estimate.hpp"
#include "run/run_report.hpp"
#include "runs/job_report.hpp"
#include "step/step_options.hpp"
#include "step/step_tasks.hpp"
#include "wattle/clock.hpp"

namespace wattle::app {
namespace {

using std::chrono::milliseconds;

constexpr int kFailed = 1;

/// Starts `words` without streams, with default signals; 0 or an error number.
int start_silently(pid_t& pid, std::array<std::string, 4> words) {
  std::array<char*, 5> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  sigset_t none;
  ::sigemptyset(&none);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error =
      ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// Runs "scontrol update JobId=JOB Comment=TEXT", which the user of the job may, for at most
/// `limit`. Returns why it failed; empty if it did not. `job`: checked by `check_step_word`.
std::string set_job_comment(const std::string& job, const std::string& text,
                            std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kPause{5};
  pid_t pid = -1;
  const int error = start_silently(pid, {"scontrol", "update", "JobId=" + job, "Comment=" + text});
  if (error != 0) return "cannot start scontrol: " + std::generic_category().message(error);
  int status = 0;
  for (auto left = limit; ::waitpid(pid, &status, WNOHANG) == 0; left -= kPause) {
    if (left <= kPause) {
      ::kill(pid, SIGKILL);
      (void)::waitpid(pid, &status, 0);
      return fmt::format("scontrol did not answer within {} ms", limit.count());
    }
    std::this_thread::sleep_for(kPause);
  }
  return status == 0 ? "" : "scontrol update failed";
}

Report begin_step_report(const StepOptions& options) {
  Report report;
  report.command = options.command;
  if (report.command.empty()) report.command = {"slurm", "step", options.place.step};
  report.interval = options.interval;
  report.slurm = SlurmJob{.job_id = options.place.job,
                          .step_id = options.place.step,
                          .rank = {},
                          .local_rank = {},
                          .gpus = options.allocated_gpus};
  report.host.name = host_name();
  return report;
}

/// Reports to the plugin that the window is open. Stdin is a socket if the plugin started this
/// process.
void say_ready() noexcept {
  constexpr std::string_view kReady = "ready\n";
  (void)::send(STDIN_FILENO, kReady.data(), kReady.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Takes what stdin holds; true at its end.
bool read_tasks(StepTasks& tasks) {
  constexpr std::size_t kChunk = 4096;
  std::array<char, kChunk> chunk{};
  const ssize_t size = ::read(STDIN_FILENO, chunk.data(), chunk.size());
  if (size < 0) return errno != EINTR && errno != EAGAIN;
  tasks.take({chunk.data(), static_cast<std::size_t>(size)}, to_unix(machine_clock().now()));
  return size == 0;
}

/// Reads at each tick until the step has ended.
void watch(StepTasks& tasks, const Fd& end, Ticker& ticker, Instruments& instruments) {
  std::array<pollfd, 3> waited = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{ticker.fd(), POLLIN, 0},
                                  pollfd{end.get(), POLLIN, 0}};
  for (;;) {
    patient_poll(waited, -1);
    if (waited[1].revents != 0) instruments.read(ticker.ends_interval());
    if (waited[2].revents != 0 && has_come(end)) return;
    if (waited[0].revents == 0) continue;
    if (read_tasks(tasks) || tasks.has_ended()) return;
  }
}

/// The facts about the tasks that only the plugin knows.
void fill_tasks(Report& report, const StepTasks& tasks) {
  report.slurm->tasks = tasks.tasks();
  if (tasks.gpus()) report.slurm->gpus = tasks.gpus();
  for (UnknownUsage& unknown : report.usage.unknown) {
    if (unknown.keys == std::vector<std::string>{"still_running"}) {
      unknown.reason = "Slurm ends what outlives the tasks";
    }
  }
}

Report measure_step(const StepOptions& options, const Fd& end, StepTasks& tasks) {
  Report report = begin_step_report(options);
  RunOptions run{.system = options.system};
  run.gpus = options.gpus;
  FoundSensors found = with_privileges([&] { return find_sensors(run, report); });
  const std::string ram = run.ram_unit;
  Instruments instruments(
      std::move(found.sensors),
      {.system = options.system,
       .interval = options.interval,
       .gpus = std::move(found.gpus),
       .units = {.ram = ram, .gpu_ram = run.gpu_ram_unit, .time = run.time_unit},
       .command = options.pid});
  std::ranges::move(instruments.take_left_out(), std::back_inserter(report.refused));
  report.usage.max_ram.unit = ram;
  report.usage.max_gpu_ram.unit = run.gpu_ram_unit;
  report.usage.compute_time.unit = run.time_unit;
  const TimePoint begin = instruments.begin();
  Ticker ticker(begin, options.interval, instruments.longest_period());
  say_ready();
  watch(tasks, end, ticker, instruments);
  const TimePoint ended = instruments.end();
  const CollectedCommand collected{
      .exit = tasks.exit(), .usage = tasks.usage(), .still_running = {}};
  fill_report(report,
              {.begin = begin,
               .end = ended,
               .late = ticker.late(),
               .launcher_rss_bytes = tasks.launcher_rss_bytes(),
               .wants_course = options.saving.save.value_or(false)},
              instruments, collected, TaskClock());
  fill_share(report, instruments, options.system);
  fill_tasks(report, tasks);
  describe_host(options.system, report.host);
  return report;
}

SaveOptions saving_of(const StepOptions& options) {
  SaveOptions saving = options.saving;
  Tags& tags = saving.tags;
  tags.insert_or_assign("job", options.place.job);
  tags.insert_or_assign("step", options.place.step);
  tags.insert_or_assign("node", options.place.node);
  if (options.place.restarts > 0) {
    tags.insert_or_assign("restart", std::to_string(options.place.restarts));
  }
  if (!options.array.empty()) tags.insert_or_assign("array", options.array);
  if (!options.job_name.empty()) tags.insert_or_assign("name", options.job_name);
  return saving;
}

void save(const RunSaver& saver, const Report& report) {
  try {
    SavedRun saved = saver.run_of(report);
    saved.directory = {};  // it is this process's, not the step's
    (void)saver.save({&saved, 1});
  } catch (const std::exception& failed) {
    print_message("step", "not saved", failure_text(failed));
  }
}

std::string brief_text(const LoadedRuns& loaded) {
  std::string text = to_brief_text(job_reports(loaded.records));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void comment(const StepOptions& options) {
  constexpr milliseconds kLimit{1500};
  StepPlace job = options.place;
  job.step.clear();
  const LoadedRuns loaded = load_runs(records_of(options.folder, job));
  if (loaded.records.empty()) return;
  const std::string failure = set_job_comment(options.place.job, brief_text(loaded), kLimit);
  if (!failure.empty()) print_message("step", "the job's comment is not set", failure);
}

int measure(StepOptions options) {
  const Fd end = end_signals();
  StepTasks tasks;
  const Report report = measure_step(options, end, tasks);
  options.place.restarts = tasks.restarts().value_or(options.place.restarts);
  const std::string path = (options.folder / record_name(options.place)).string();
  const bool is_written = write_or_report("step", [&] {
    make_folder_of(path);
    Output::open(path, false).write(to_json(report));
  });
  std::set<pid_t> strangers;
  const RunSaver saver("step", saving_of(options), strangers);
  if (saver.is_wanted()) save(saver, report);
  if (options.comments) comment(options);
  return is_written ? 0 : kFailed;
}

/// The records of the step, once all nodes have written theirs, or the time is over.
std::vector<std::string> awaited_records(const StepOptions& options) {
  constexpr milliseconds kPause{2};
  const TimePoint end = machine_clock().now() + options.wait;
  for (;;) {
    std::vector<std::string> paths = records_of(options.folder, options.place);
    if (paths.size() >= options.nodes || machine_clock().now() >= end) return paths;
    std::this_thread::sleep_for(kPause);
  }
}

int sum(const StepOptions& options) {
  const std::vector<std::string> paths = awaited_records(options);
  const LoadedRuns loaded = load_runs(paths);
  for (const std::string& problem : loaded.problems) print_message("step", problem);
  if (loaded.records.empty()) {
    print_message("step", fmt::format("job {} has no record in {}", options.place.job,
                                      printable(options.folder.string())));
    return kFailed;
  }
  const std::vector<JobReport> reports = job_reports(loaded.records);
  const std::string text = options.json ? to_json(reports) : to_brief_text(reports);
  if (paths.size() < options.nodes) {
    print_message("step", fmt::format("{} of {} nodes have no record yet",
                                      options.nodes - paths.size(), options.nodes));
  }
  Output::open("-", false).write(text);
  return loaded.problems.empty() ? 0 : kFailed;
}

}  // namespace

int execute(const StepOptions& options) { return options.sums ? sum(options) : measure(options); }

}  // namespace wattle::app
