#include "process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "fakes/temp_folder.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace wattle::integration {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Fd read_end;
  Fd write_end;
};

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  return {Fd(ends[0]), Fd(ends[1])};
}

void make_non_blocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

/// True for what could change what Wattle does: who runs the tests may sit in a batch job.
bool is_about_wattle(std::string_view variable) {
  constexpr std::array<std::string_view, 13> kPrefixes = {
      "WATTLE_", "SLURM_", "OMPI_",     "MV2_", "PALS_",     "PMIX_", "PMI_",
      "MPI_",    "PBS_",   "LSB_JOBID", "LC_",  "NO_COLOR=", "ZEUSD_"};
  return std::ranges::any_of(kPrefixes, [&](auto prefix) { return variable.starts_with(prefix); });
}

/// Of this test program alone: others run beside it.
std::string state_folder() {
  static const fakes::TempFolder folder;
  return folder.path().string();
}

std::vector<std::string> environment_for(const Start& start) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || is_about_wattle(text)) continue;
    variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  // A sanitizer would forbid core dumps, to the programs it starts as well.
  for (const char* options : {"ASAN_OPTIONS", "TSAN_OPTIONS"}) {
    variables[options] += ":disable_coredump=0";
  }
  // Nothing is written to the user's own folder.
  variables["XDG_STATE_HOME"] = state_folder();
  variables["WATTLE_SOCK_PATH"] = "none";  // nor does it ask this machine's daemon
  variables["LC_ALL"] = "C.UTF-8";
  variables["TERM"] = "xterm";
  for (const auto& [name, value] : start.environment) {
    variables.erase(name);
    if (value) variables[name] = *value;
  }
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  // The exec functions take char* for historical reasons and change nothing.
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

bool eventually(const std::function<bool()>& condition) {
  const SteadyClock::time_point deadline = SteadyClock::now() + kDeadline;
  while (!condition()) {
    if (SteadyClock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::optional<int> Outcome::code() const noexcept {
  return status >= 0 && WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

std::optional<int> Outcome::signal() const noexcept {
  return status >= 0 && WIFSIGNALED(status) ? std::optional(WTERMSIG(status)) : std::nullopt;
}

bool Outcome::core_dumped() const noexcept {
  return status >= 0 && WIFSIGNALED(status) && WCOREDUMP(status);
}

Process::Process(const Start& start) {
  const std::vector<std::string> environment = environment_for(start);
  const std::vector<char*> variables = pointers_to(environment);
  const std::vector<char*> words = pointers_to(start.command);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();

  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    reset_signals();
    ::dup2(in.read_end.get(), STDIN_FILENO);
    ::dup2(out.write_end.get(), STDOUT_FILENO);
    ::dup2(err.write_end.get(), STDERR_FILENO);
    if (!start.folder.empty() && ::chdir(start.folder.c_str()) != 0) ::_exit(EXIT_FAILURE);
    if (start.prepare) start.prepare();
    ::execvpe(words[0], words.data(), variables.data());
    ::perror(words[0]);
    ::_exit(EXIT_FAILURE);
  }
  end_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!end_) fail("pidfd_open");
  in_ = std::move(in.write_end);
  out_.fd = std::move(out.read_end);
  err_.fd = std::move(err.read_end);
  for (const Fd* fd : {&in_, &out_.fd, &err_.fd}) make_non_blocking(*fd);
}

Process::~Process() {
  if (waited_) return;
  ::kill(pid_, SIGKILL);
  ::kill(pid_, SIGCONT);
  ::waitpid(pid_, nullptr, 0);
}

void Process::send(int signal) const noexcept { ::kill(pid_, signal); }

void Process::write_input(std::string_view text) {
  input_ += text;
  feed();
}

void Process::close_input() {
  input_ends_ = true;
  feed();
}

void Process::feed() {
  if (!in_) return;
  // Whoever does not read its stdin to the end must not end the test.
  const auto previous = ::signal(SIGPIPE, SIG_IGN);
  while (!input_.empty()) {
    const ssize_t count = ::write(in_.get(), input_.data(), input_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) input_.clear();
    if (count <= 0) break;
    input_.erase(0, static_cast<std::size_t>(count));
  }
  ::signal(SIGPIPE, previous);
  if (input_.empty() && input_ends_) in_.reset();
}

void Process::Stream::take() {
  std::array<char, 65536> chunk;
  while (fd) {
    const ssize_t count = ::read(fd.get(), chunk.data(), chunk.size());
    if (count > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      fd.reset();
    } else if (errno != EINTR) {
      break;
    }
  }
}

void Process::pump() {
  constexpr int kMomentMs = 10;
  std::array<pollfd, 4> waiting = {pollfd{end_.get(), POLLIN, 0}, pollfd{out_.fd.get(), POLLIN, 0},
                                   pollfd{err_.fd.get(), POLLIN, 0},
                                   pollfd{input_.empty() ? -1 : in_.get(), POLLOUT, 0}};
  ::poll(waiting.data(), waiting.size(), kMomentMs);
  feed();
  out_.take();
  err_.take();
}

bool Process::pump_until(const std::function<bool()>& condition, std::string_view awaited) {
  const SteadyClock::time_point deadline = SteadyClock::now() + kDeadline;
  while (!condition()) {
    if (SteadyClock::now() >= deadline) {
      ADD_FAILURE() << "waited in vain for " << awaited << "\nstdout: " << out_.text
                    << "\nstderr: " << err_.text;
      return false;
    }
    pump();
  }
  return true;
}

bool Process::prints(std::string_view text) {
  const auto is_there = [&] { return out_.text.find(text) != std::string::npos; };
  return pump_until([&] { return is_there() || !out_.fd; }, text) && is_there();
}

pid_t Process::number_printed() const {
  const pid_t number = std::atoi(out_.text.c_str());  // NOLINT(cert-err34-c): 0 is no process
  EXPECT_GT(number, 0) << out_.text;
  return number;
}

bool Process::stops() {
  const auto is_stopped = [&] {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
           info.si_pid == pid_;
  };
  return pump_until(is_stopped, "a stop");
}

bool Process::has_ended() const noexcept {
  pollfd end{end_.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 1;
}

bool Process::is_running() {
  pump();
  return !has_ended();
}

Outcome Process::wait() {
  if (!pump_until([&] { return has_ended(); }, "the end"))
    return {.out = out_.text, .err = err_.text};
  Outcome outcome;
  ::waitpid(pid_, &outcome.status, 0);
  waited_ = true;
  out_.take();
  err_.take();
  outcome.out = out_.text;
  outcome.err = err_.text;
  return outcome;
}

std::string Process::rest_of_output() {
  (void)pump_until([&] { return !out_.fd; }, "the end of the output");
  return out_.text;
}

void become_ordinary_user() {
  if (::geteuid() != 0) return;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0) {
    ::_exit(EXIT_FAILURE);
  }
}

Outcome run(const Start& start, std::string_view input) {
  Process process(start);
  process.write_input(input);
  process.close_input();
  return process.wait();
}

bool mount_memory(const std::string& folder, const char* options) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("memory", folder.c_str(), "tmpfs", 0, options) == 0;
}

}  // namespace wattle::integration
