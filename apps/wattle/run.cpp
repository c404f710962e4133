// `wattle run`: fork the launcher, prepare, release, read while the command runs, report, end
// alike.
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "ending.hpp"
#include "job.hpp"
#include "launcher.hpp"
#include "output.hpp"
#include "privileges.hpp"
#include "report/report.hpp"
#include "sampling/sampler.hpp"
#include "sampling/power_profile.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/providers.hpp"
#include "supervisor.hpp"
#include "usage/machine.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kSparklineWidth = 48;

/// Reads at equal times from a begin on. Several reads can make up one interval: where the
/// interval is so long that a counter could wrap unseen, it is read in between as well.
class Ticker {
 public:
  Ticker(TimePoint begin, nanoseconds interval, nanoseconds longest_period)
      : reads_per_interval_((interval + longest_period - nanoseconds(1)) / longest_period),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    const nanoseconds period = interval / reads_per_interval_;
    const itimerspec spec{.it_interval = to_timespec(period),
                          .it_value = to_timespec(begin.time_since_epoch() + period)};
    if (!timer_ || ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0) {
      throw Error("cannot make a timer: " + std::generic_category().message(errno));
    }
  }

  [[nodiscard]] int fd() const noexcept { return timer_.get(); }
  [[nodiscard]] std::uint64_t late() const noexcept { return late_; }

  /// To be called when `fd` is readable: true if an interval has ended. Times that have passed are
  /// counted, not made up for.
  bool ends_interval() noexcept {
    std::uint64_t expired = 0;
    if (::read(timer_.get(), &expired, sizeof expired) != sizeof expired) return false;
    late_ += expired - 1;
    const std::uint64_t before = reads_ / static_cast<std::uint64_t>(reads_per_interval_);
    reads_ += expired;
    return reads_ / static_cast<std::uint64_t>(reads_per_interval_) != before;
  }

 private:
  static timespec to_timespec(nanoseconds time) noexcept {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
    return {.tv_sec = whole.count(), .tv_nsec = (time - whole).count()};
  }

  std::int64_t reads_per_interval_;
  Fd timer_;
  std::uint64_t reads_ = 0;
  std::uint64_t late_ = 0;
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Variables are read while there is one thread, and nobody changes them.
const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

struct Outputs {
  std::optional<Output> text;  ///< absent: stderr
  std::optional<Output> json;
};

Outputs open_outputs(const RunOptions& options, const Job& job, const std::string& host,
                     pid_t pid) {
  const PathValues values{.host = host,
                          .rank = std::to_string(job.rank.value_or(0)),
                          .pid = std::to_string(pid),
                          .job = job.id.empty() ? "none" : job.id};
  Outputs outputs;
  if (!options.report_path.empty()) {
    outputs.text = Output::open(expand_path(options.report_path, values), options.append);
  }
  if (!options.json_path.empty()) {
    outputs.json = Output::open(expand_path(options.json_path, values), options.append);
  }
  if (outputs.text && outputs.json && outputs.text->is_same_file_as(*outputs.json)) {
    throw InvalidArgument(
        fmt::format("-o and --json name the same file: {}", printable(options.json_path)));
  }
  return outputs;
}

/// Everything that reads while the command runs.
struct Instruments {
  Sampler energy;
  MachineMonitor machine;
  PowerProfile profile{kSparklineWidth};
  std::uint64_t reads = 0;

  /// A boundary of the run, or the end of an interval, or a read in between.
  void read(const Clock& clock, bool ends_interval) noexcept {
    energy.read(ends_interval);
    machine.sample(clock.now());
    if (ends_interval) profile.add(energy.interval_power());
    ++reads;
  }
};

/// Waits for the command's end, reading at each tick.
void watch(Supervisor& supervisor, Ticker& ticker, Instruments& instruments, const Clock& clock) {
  std::array<pollfd, 2> waiting = {pollfd{supervisor.fd(), POLLIN, 0},
                                   pollfd{ticker.fd(), POLLIN, 0}};
  for (;;) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw Error("cannot wait: " + std::generic_category().message(errno));
    }
    if (waiting[0].revents != 0 && supervisor.handle()) return;
    if (waiting[1].revents != 0) instruments.read(clock, ticker.ends_interval());
  }
}

void fill_usage(Report& report, const MachineUsage& machine, const Collected& collected,
                std::optional<std::uint64_t> launcher_rss) {
  ResourceUsage& usage = report.usage;
  usage.compute_time = report.wall;
  usage.cpu_user = collected.usage.cpu_user;
  usage.cpu_system = collected.usage.cpu_system;
  usage.still_running = collected.still_running;
  if (!collected.still_running) {
    usage.unknown.push_back({{"still_running"}, "procfs does not show this process"});
  }
  // The kernel counts what a process held before its exec into its peak: the launcher's size. Its
  // counters of that lag behind by some pages a processor, and the exec itself takes a few.
  constexpr std::uint64_t kMarginBytes = std::uint64_t{512} << 10U;
  const std::uint64_t inherited = launcher_rss.value_or(0) + kMarginBytes;
  if (collected.usage.peak_rss_bytes > inherited) {
    usage.peak_rss_bytes = collected.usage.peak_rss_bytes;
  } else {
    usage.unknown.push_back(
        {{"peak_rss_bytes"},
         fmt::format("below {} bytes it cannot be told from the process that started the command",
                     inherited)});
  }

  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.system_core_count = machine.processors;
  cpu.n_expected_cores = machine.processors;
  cpu.system.mean_sum_percent = machine.mean_cpu_percent;
  cpu.system.max_sum_percent = machine.max_cpu_percent;
  if (machine.processors) {
    const double count = *machine.processors;
    if (machine.mean_cpu_percent)
      cpu.system.mean_hardware_percent = *machine.mean_cpu_percent / count;
    if (machine.max_cpu_percent) cpu.system.max_hardware_percent = *machine.max_cpu_percent / count;
  }
  if (machine.memory_total_bytes && machine.peak_memory_used_bytes) {
    usage.max_ram.system_capacity = static_cast<double>(*machine.memory_total_bytes);
    usage.max_ram.system = static_cast<double>(*machine.peak_memory_used_bytes);
  }
  usage.unknown.push_back(
      {{"max_ram.main", "max_ram.descendants", "max_ram.combined", "cpu_utilization.main",
        "cpu_utilization.descendants", "cpu_utilization.combined", "peak_pss_bytes", "processes"},
       "this version of Wattle does not sample the command's processes"});
  usage.unknown.push_back(
      {{"max_gpu_ram", "gpu_utilization"}, "this version of Wattle does not read GPUs"});
}

EnergyReport energy_report(const Instruments& instruments, TimePoint begin, TimePoint end,
                           const std::vector<Refusal>& refused) {
  EnergyReport report;
  for (const Sampler::Result& result : instruments.energy.results(begin, end)) {
    report.domains.push_back({.domain = result.channel.domain,
                              .contained_in = result.channel.contained_in,
                              .source = result.channel.source,
                              .figure = result.figure});
  }
  report.total = total_of(report.domains, refused);
  report.profile = instruments.profile.means();
  return report;
}

Overhead own_overhead(std::uint64_t samples, std::uint64_t late) {
  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  const auto seconds = [](const timeval& time) -> Seconds {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return {.cpu = seconds(self.ru_utime) + seconds(self.ru_stime), .samples = samples, .late = late};
}

/// Writes one output; a failure is told, and answered with true.
bool write_failed(std::optional<Output>& output, const std::string& text) {
  try {
    if (output) output->write(text);
    return false;
  } catch (const WriteError& error) {
    write_to_stderr(fmt::format("wattle run: {}\n", error.what()));
    return true;
  }
}

void write_report(const RunOptions& options, Outputs& outputs, const Report& report) {
  const bool to_stderr = !outputs.text && !options.quiet;
  const bool on_terminal = to_stderr && ::isatty(STDERR_FILENO) == 1;
  const char* no_color = environment("NO_COLOR");
  const bool bold = on_terminal && (no_color == nullptr || *no_color == '\0');
  const std::string text = to_text(report, {.bold = bold});
  const bool text_failed = write_failed(outputs.text, text);
  const bool json_failed = outputs.json && write_failed(outputs.json, to_json(report));
  // What was measured is not lost with the file it should have gone to.
  if (to_stderr || text_failed || json_failed) write_to_stderr(text);
}

/// What is known before the command starts.
Report begin_report(const RunOptions& options, const Job& job) {
  Report report;
  report.command = options.command;
  report.interval = options.interval;
  report.slurm = job.slurm;
  report.host.name = host_name();
  const std::string boot_id = (options.system.procfs / "sys/kernel/random/boot_id").string();
  report.host.boot_id = read_line(boot_id).value_or("");
  report.host.cpu = read_cpu_info(options.system).model_name;
  if (job.local_rank.value_or(0) != 0 && !options.every_rank) {
    report.energy.left_out = fmt::format(
        "rank 0 of this machine measures it; this is local rank {} (--every-rank measures in all)",
        *job.local_rank);
  }
  return report;
}

/// The command never ran. A report as text would only be noise, but a script may wait for the
/// JSON.
int end_unstarted(const ExecFailure& failure, Report& report, Outputs& outputs) {
  const std::string cause = std::generic_category().message(failure.error_number);
  report.exit = {.started = false, .error = "cannot be executed: " + cause};
  write_to_stderr(fmt::format("wattle run: cannot execute {}: {}\n",
                              shell_quoted(report.command.front()), cause));
  if (outputs.json) (void)write_failed(outputs.json, to_json(report));
  return failure.exit_status();
}

}  // namespace

int run(const RunOptions& options) {
  // First of all, while this process is small and has one thread: the command inherits what it
  // would have without us, and its peak memory does not begin with ours.
  std::set<pid_t> strangers = children_before_start(options.system);
  Launcher launcher(options.command);

  const Clock& clock = machine_clock();
  const Job job = read_job(environment);
  Report report = begin_report(options, job);
  Survey found;
  if (report.energy.left_out.empty()) found = survey(options.system, clock);
  report.refused = std::move(found.refused);
  Instruments instruments{.energy = Sampler(std::move(found.sensors), clock),
                          .machine = MachineMonitor(options.system)};
  drop_privileges();
  Outputs outputs = open_outputs(options, job, report.host.name, launcher.pid());
  Supervisor supervisor(launcher.pid(), std::move(strangers));

  instruments.read(clock, false);
  const TimePoint begin = clock.now();
  Ticker ticker(begin, options.interval, instruments.energy.keeper_period());
  launcher.release();
  const std::optional<ExecFailure> failure = launcher.wait_for_exec();
  if (!failure) watch(supervisor, ticker, instruments, clock);
  const TimePoint end = clock.now();
  instruments.read(clock, false);
  const Collected collected = supervisor.collect(options.system);

  report.started_unix_s = to_unix(begin);
  report.ended_unix_s = to_unix(end);
  report.wall = end - begin;
  report.exit = collected.exit;
  if (report.energy.left_out.empty()) {
    report.energy = energy_report(instruments, begin, end, report.refused);
  }
  fill_usage(report, instruments.machine.usage(), collected, launcher.own_peak_rss_bytes());
  report.overhead = own_overhead(instruments.reads, ticker.late());
  if (failure) return end_unstarted(*failure, report, outputs);
  write_report(options, outputs, report);
  end_like(report.exit);
}

}  // namespace wattle::app
