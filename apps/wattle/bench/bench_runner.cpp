#include "bench/bench_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "base/unix_address.hpp"
#include "cli/privileges.hpp"
#include "cli/waiting.hpp"
#include "run/run_report.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// Events that the kernel counted, of all CPUs; 0 where it counts none.
std::uint64_t throttle_events(const System& system) {
  std::uint64_t events = 0;
  const std::string cpus = (system.sysfs / "devices/system/cpu").string();
  for (const std::string& name : list_folder(cpus).names) {
    if (!name.starts_with("cpu")) continue;
    for (const char* const counter : {"core_throttle_count", "package_throttle_count"}) {
      const auto text = read_line(fmt::format("{}/{}/thermal_throttle/{}", cpus, name, counter));
      if (text) events += parse_counter(*text).value_or(0);
    }
  }
  return events;
}

[[noreturn]] void fail_to_open(const std::string& path) {
  throw BenchFailed(
      fmt::format("cannot open {}: {}", printable(path), std::generic_category().message(errno)));
}

Fd opened(const std::string& path, int flags) {
  constexpr mode_t kModeForAll = 0666;
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC, kModeForAll));
  if (!fd) fail_to_open(path);
  return fd;
}

/// Reports a bad path before anything runs. It opens nothing: to open and close a pipe would end
/// its writer.
void check_input(const std::string& input) {
  if (input != "null" && ::access(input.c_str(), R_OK) != 0) fail_to_open(input);
}

std::string how_it_ended(const Exit& exit) {
  if (exit.signal) return fmt::format("was killed by signal {}", *exit.signal);
  if (exit.code) return fmt::format("failed with exit status {}", *exit.code);
  return exit.error;
}

RunOptions run_options_of(const BenchOptions& options) {
  RunOptions run;
  run.system = options.system;
  run.interval = options.interval;
  run.gpus = options.gpus;
  run.estimate = options.estimate;
  run.every_rank = true;  // who benchmarks in a job wants it
  return run;
}

std::string not_executed(const std::string& command, const ExecFailure& failure) {
  return fmt::format("cannot execute {}: {}", printable(command),
                     std::generic_category().message(failure.error_number));
}

}  // namespace

BenchConditions::BenchConditions(const System& system)
    : system_(system),
      governor_(
          read_line((system.sysfs / "devices/system/cpu/cpu0/cpufreq/scaling_governor").string())
              .value_or("")),
      throttled_before_(throttle_events(system)),
      place_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  // An abstract name, not a file: it is free again after any end of the process.
  const auto name = UnixAddress::of({"\0wattle-bench", 13});
  is_alone_ =
      !place_ || ::bind(place_.get(), name->get(), name->size()) == 0 || errno != EADDRINUSE;
}

std::vector<std::string> BenchConditions::warnings() const {
  std::vector<std::string> warnings;
  if (!is_alone_) {
    warnings.emplace_back(
        "another wattle bench ran at the start: each measures the other; run one at a time");
  }
  if (!governor_.empty() && governor_ != "performance") {
    warnings.push_back(
        fmt::format("the CPU frequency governor is {}: the frequency depends on the "
                    "load; the governor performance gives steadier figures",
                    printable(governor_)));
  }
  if (throttle_events(system_) > throttled_before_) {
    warnings.emplace_back(
        "CPUs were throttled because they were too hot: use --pause, or better cooling");
  }
  return warnings;
}

/// The command's descriptors, and the end of its pipe that is read.
struct BenchRunner::Streams {
  Fd in;
  Fd out;
  Fd error;
  Fd drained;

  [[nodiscard]] CommandStreams for_command() const noexcept {
    return {.in = in.get(), .out = out.get(), .error = error.get()};
  }
};

BenchRunner::BenchRunner(const BenchOptions& options, bool keeps_power)
    : options_(options),
      keeps_power_(keeps_power),
      run_options_(run_options_of(options)),
      end_(end_signals()) {
  check_input(options.input);
  base_ = begin_report(run_options_, read_job(environment_variable));
  describe_host(options.system, base_.host);
  FoundSensors found = with_privileges([&] { return find_sensors(run_options_, base_); });
  gpus_ = std::move(found.gpus);
  for (auto& sensor : found.sensors) sensors_.emplace_back(std::move(sensor));
}

BenchRunner::Streams BenchRunner::open_streams() const {
  const std::string& output = options_.output;
  Streams streams;
  streams.in = opened(options_.input == "null" ? "/dev/null" : options_.input, O_RDONLY);
  if (output == "inherit") return streams;
  streams.error = opened("/dev/null", O_WRONLY);
  if (output == "pipe") {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw BenchFailed("cannot make a pipe: " + std::generic_category().message(errno));
    }
    streams.drained = Fd(ends[0]);
    streams.out = Fd(ends[1]);
    ::fcntl(streams.drained.get(), F_SETFL, O_NONBLOCK);
  } else if (output == "null") {
    streams.out = opened("/dev/null", O_WRONLY);
  } else {
    streams.out = opened(output, O_WRONLY | O_CREAT | O_TRUNC);
  }
  return streams;
}

Report BenchRunner::measured(const std::string& command) {
  Report report = base_;
  report.command = words_of(command, options_.shell);
  Streams streams = open_streams();
  // Daemons of earlier runs are not this command's.
  std::set<pid_t> strangers = children_before_start(System{});
  Launcher launcher(report.command, streams.for_command(), inherited_);
  streams.out.reset();  // else a pipe would never end
  const TaskClock task_clock;
  Supervisor supervisor(launcher.pid(), strangers);
  FoundSensors found{.sensors = {}, .gpus = gpus_};
  for (const auto& sensor : sensors_)
    found.sensors.push_back(std::make_unique<ForwardingSensor>(sensor));
  const MeasuredRun run = measure_run({.options = run_options_,
                                       .launcher = launcher,
                                       .task_clock = task_clock,
                                       .supervisor = supervisor,
                                       .drained = streams.drained.get(),
                                       .keeps_power = keeps_power_},
                                      std::move(found), std::move(strangers), report);
  if (run.failure) throw BenchFailed(not_executed(report.command.front(), *run.failure));
  if (supervisor.end_signal()) throw Interrupted{*supervisor.end_signal()};
  check_signals();
  return report;
}

void BenchRunner::unmeasured(const std::string& command, const char* role) {
  if (command.empty()) return;
  const std::vector<std::string> words = words_of(command, options_.shell);
  Streams streams;
  streams.in = opened("/dev/null", O_RDONLY);
  if (options_.output != "inherit") {
    streams.out = opened("/dev/null", O_WRONLY);
    streams.error = opened("/dev/null", O_WRONLY);
  }
  std::set<pid_t> strangers = children_before_start(System{});
  Launcher launcher(words, streams.for_command(), inherited_);
  Supervisor supervisor(launcher.pid(), std::move(strangers));
  launcher.release();
  if (const auto failure = launcher.wait_for_exec()) {
    throw BenchFailed(not_executed(words.front(), *failure));
  }
  supervisor.wait_until_ended();
  const Exit exit = supervisor.wait_for_exit();
  if (supervisor.end_signal()) throw Interrupted{*supervisor.end_signal()};
  check_signals();
  if (exit.code == 0) return;
  throw BenchFailed(fmt::format("the {} {} {}; append '|| true' to it if that does not matter",
                                role, shell_quoted(command), how_it_ended(exit)));
}

void BenchRunner::pause() {
  pollfd waited{.fd = end_.get(), .events = POLLIN, .revents = 0};
  if (options_.pause > std::chrono::nanoseconds(0)) {
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(options_.pause);
    patient_poll({&waited, 1}, static_cast<int>(pause.count()));
  }
  check_signals();
}

void BenchRunner::check_signals() {
  signalfd_siginfo info{};
  if (::read(end_.get(), &info, sizeof info) == sizeof info) {
    throw Interrupted{static_cast<int>(info.ssi_signo)};
  }
}

}  // namespace wattle::app
