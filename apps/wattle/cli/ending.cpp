#include "cli/ending.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "cli/exit_status.hpp"

namespace wattle::app {

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

}  // namespace wattle::app
