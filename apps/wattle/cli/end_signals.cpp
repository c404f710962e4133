#include "cli/end_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "wattle/error.hpp"

namespace wattle::app {

Fd end_signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaddset(&wanted, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  Fd fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) throw Error("cannot wait for signals: " + std::generic_category().message(errno));
  return fd;
}

bool has_come(const Fd& end) noexcept {
  signalfd_siginfo info{};
  return ::read(end.get(), &info, sizeof info) == sizeof info;
}

}  // namespace wattle::app
