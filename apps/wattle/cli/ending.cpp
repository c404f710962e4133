#include "cli/ending.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>

#include "cli/answer.hpp"
#include "output/output.hpp"

namespace wattle::app {
namespace {

// A terminate handler has no argument.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<pid_t> started{0};
std::atomic<bool> outlives{false};
constexpr int kNoStatus = -1;
std::atomic<int> known_status{kNoStatus};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// In any thread, and with no memory.
[[noreturn]] void end_now() noexcept {
  write_to_stderr("wattle: out of memory\n");
  const pid_t command = started;
  if (command == 0) ::_exit(kRunFailed);
  int status = known_status;
  if (status == kNoStatus) {
    pid_t waited = 0;
    do {
      waited = ::waitpid(command, &status, 0);
    } while (waited < 0 && errno == EINTR);
    if (waited != command) ::_exit(kRunFailed);
  }
  if (outlives) ::_exit(kRunFailed);
  end_like(exit_of(status));
}

}  // namespace

Exit exit_of(int status) noexcept {
  Exit exit{.started = true};
  if (WIFSIGNALED(status)) {
    exit.signal = WTERMSIG(status);
    exit.core_dumped = WCOREDUMP(status);
  } else {
    exit.code = WEXITSTATUS(status);
  }
  return exit;
}

void end_like(const Exit& exit) noexcept {
  if (exit.signal) {
    ::prctl(PR_SET_DUMPABLE, 0);  // the command left the core dump, if any
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(*exit.signal, &action, nullptr);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, *exit.signal);
    ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
    ::raise(*exit.signal);
    // The kernel spares the first process of a PID namespace.
    constexpr int kSignalBase = 128;
    ::_exit(kSignalBase + *exit.signal);
  }
  ::_exit(exit.code.value_or(kRunFailed));
}

void end_in_good_order() noexcept { std::set_terminate(end_now); }

void end_as_command(pid_t command) noexcept {
  known_status = kNoStatus;
  started = command;
}
void outlive_commands() noexcept { outlives = true; }
void remember_status(int status) noexcept { known_status = status; }

}  // namespace wattle::app
