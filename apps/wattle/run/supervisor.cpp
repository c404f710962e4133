#include "run/supervisor.hpp"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <exception>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/files/file.hpp"
#include "cli/ending.hpp"
#include "cli/waiting.hpp"
#include "usage/tree/process_tree.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

bool asks_to_end(int signal) noexcept {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

/// Signals that the user ignores (nohup, a background job) stay ignored, for the command as for us.
Fd take_signals() {
  // Ignored SIGCHLD would make the kernel throw children's statuses away.
  (void)std::signal(SIGCHLD, SIG_DFL);
  // A report without a reader, or above the user's file size limit, must not end Wattle.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  return signal_fd(std::array{SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2});
}

/// Who is whose parent is asked of the real /proc: this is about our own processes, not about the
/// machine that is measured.
std::optional<ProcessStat> process_stat(pid_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
  return text ? parse_process_stat(*text) : std::nullopt;
}

/// The terminal sends its signals to the command too, and signals of the command or its children
/// are for Wattle alone. Only a hangup goes to the session's leader alone, which is Wattle after
/// `ssh -t host wattle run ...` without a shell in between.
bool should_forward(const signalfd_siginfo& info, pid_t child) {
  if (info.ssi_code == SI_KERNEL) {
    return info.ssi_signo == SIGHUP && ::getsid(0) == ::getpid();
  }
  try {
    const Kinship kinship = kinship_of(static_cast<pid_t>(info.ssi_pid), child);
    return kinship != Kinship::main && kinship != Kinship::descendant;
  } catch (const std::exception&) {
    return true;  // out of memory: one that comes twice is better than one that is lost
  }
}

/// True if a job-control shell watches our process group: an ancestor outside of it, but in our
/// session. Without one, no shell would ever continue Wattle.
bool has_job_control() {
  const pid_t group = ::getpgrp();
  const pid_t session = ::getsid(0);
  pid_t ancestor = ::getppid();
  while (ancestor > 0 && ::getpgid(ancestor) == group) {
    const auto process = process_stat(ancestor);
    if (!process) return false;
    ancestor = process->parent;
  }
  return ancestor > 0 && ::getsid(ancestor) == session;
}

bool is_stopped(pid_t child, int options) noexcept {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | options) == 0 &&
         info.si_pid == child;
}

}  // namespace

std::set<pid_t> children_before_start(const System& system) {
  siginfo_t info{};
  const bool has_children =
      ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
  std::set<pid_t> pids;
  if (!has_children) return pids;
  for (const LiveProcess& process : live_descendants(system).value_or(std::vector<LiveProcess>{})) {
    pids.insert(process.pid);
  }
  return pids;
}

Supervisor::Supervisor(pid_t child, std::set<pid_t> strangers)
    : child_(child), strangers_(std::move(strangers)), signals_(take_signals()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool Supervisor::handle() noexcept {
  // As many as are pending: there are few kinds, each pending once at most.
  std::array<signalfd_siginfo, 9> pending;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t bytes = ::read(signals_.get(), pending.data(), sizeof pending);
  const std::size_t count = bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof pending[0] : 0;
  for (const signalfd_siginfo& info : std::span(pending).first(count)) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (asks_to_end(signal)) end_signal_ = signal;
    if (signal != SIGCHLD && should_forward(info, child_)) ::kill(child_, signal);
  }
  if (reap_orphans()) return true;
  follow_stop();
  return false;
}

bool Supervisor::reap_orphans() noexcept {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      return true;  // the command is no longer a child: `reap_child` says so
    }
    if (info.si_pid == 0) return false;
    if (info.si_pid == child_) return true;
    rusage used{};
    if (::wait4(info.si_pid, nullptr, WNOHANG, &used) == info.si_pid) {
      if (!strangers_.contains(info.si_pid)) add(used);
    }
  }
}

void Supervisor::follow_stop() noexcept {
  if (!is_stopped(child_, WNOWAIT)) return;
  // A shell continues the whole group, us and then perhaps only the command: what we see may be
  // over in a moment.
  const timespec moment{.tv_sec = 0, .tv_nsec = 2'000'000};
  ::nanosleep(&moment, nullptr);
  if (is_stopped(child_, 0) && has_job_control()) ::raise(SIGSTOP);
}

void Supervisor::add(const rusage& used) noexcept {
  usage_.cpu_user += seconds_of(used.ru_utime);
  usage_.cpu_system += seconds_of(used.ru_stime);
  usage_.peak_rss_bytes =
      std::max(usage_.peak_rss_bytes, static_cast<std::uint64_t>(used.ru_maxrss) * 1024);
  usage_.minor_faults += static_cast<std::uint64_t>(used.ru_minflt);
  usage_.major_faults += static_cast<std::uint64_t>(used.ru_majflt);
  usage_.voluntary_switches += static_cast<std::uint64_t>(used.ru_nvcsw);
  usage_.involuntary_switches += static_cast<std::uint64_t>(used.ru_nivcsw);
}

void Supervisor::reap_child() {
  int status = 0;
  rusage used{};
  pid_t waited = 0;
  do {
    waited = ::wait4(child_, &status, 0, &used);
  } while (waited < 0 && errno == EINTR);
  if (waited == child_) {
    remember_status(status);
    add(used);
    usage_.main_peak_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    exit_ = exit_of(status);
  } else {
    exit_ = Exit{.started = true,
                 .error = "its exit status is unknown: " + std::generic_category().message(errno)};
  }
}

Exit Supervisor::wait_for_exit() {
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 10'000'000};
  if (exit_) return *exit_;
  while (!handle()) ::nanosleep(&kMoment, nullptr);
  reap_child();
  return *exit_;
}

void Supervisor::wait_until_ended() noexcept {
  pollfd waited{.fd = fd(), .events = POLLIN, .revents = 0};
  do {
    patient_poll({&waited, 1}, -1);
  } while (waited.revents == 0 || !handle());
}

CollectedCommand Supervisor::collect(const System& system) {
  CollectedCommand collected;
  reap_child();
  collected.exit = *exit_;
  const bool some_are_left = !reap_orphans();

  collected.still_running.emplace();
  if (some_are_left) collected.still_running = live_descendants(system);
  if (collected.still_running) {
    std::erase_if(*collected.still_running,
                  [&](const LiveProcess& process) { return strangers_.contains(process.pid); });
    for (const LiveProcess& process : *collected.still_running) {
      usage_.cpu_user += process.cpu_user;
      usage_.cpu_system += process.cpu_system;
      usage_.minor_faults += process.minor_faults;
      usage_.major_faults += process.major_faults;
      usage_.voluntary_switches += process.voluntary_switches;
      usage_.involuntary_switches += process.involuntary_switches;
      usage_.peak_rss_bytes = std::max(usage_.peak_rss_bytes, process.peak_rss_bytes.value_or(0));
    }
    std::erase_if(*collected.still_running,
                  [](const LiveProcess& process) { return process.ended; });
  }
  collected.usage = usage_;
  return collected;
}

}  // namespace wattle::app
