#include "cli/waiting.hpp"

#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

#include "wattle/error.hpp"

namespace wattle::app {

using std::chrono::nanoseconds;

namespace {

timespec to_timespec(nanoseconds time) noexcept {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = whole.count(), .tv_nsec = (time - whole).count()};
}

/// `out`: null where no text is written.
bool wait_for_tick(Ticker& ticker, LiveOutput* out, const Fd& end) {
  std::array<pollfd, 3> waited = {pollfd{.fd = end.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = ticker.fd(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = -1, .events = POLLOUT, .revents = 0}};
  while (out == nullptr || !out->is_over()) {
    if (out != nullptr) waited[2].fd = out->has_rest() ? out->fd() : -1;
    patient_poll(waited, -1);
    if ((waited[0].revents & POLLIN) != 0 && has_come(end)) return false;
    if ((waited[1].revents & POLLIN) != 0 && ticker.ends_interval()) return true;
    if (out != nullptr && waited[2].revents != 0) out->flush();
  }
  return false;
}

}  // namespace

void patient_poll(std::span<pollfd> waited, int timeout_ms) noexcept {
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 10'000'000};
  if (::poll(waited.data(), waited.size(), timeout_ms) >= 0) return;
  const bool interrupted = errno == EINTR;
  if (!interrupted) ::nanosleep(&kMoment, nullptr);
  for (pollfd& fd : waited) fd.revents = interrupted || fd.fd < 0 ? short{0} : fd.events;
}

Fd signal_fd(std::span<const int> signals) {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int signal : signals) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaddset(&wanted, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  Fd fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) throw Error("cannot wait for signals: " + std::generic_category().message(errno));
  return fd;
}

Fd end_signals() {
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  return signal_fd(std::array{SIGINT, SIGTERM, SIGHUP});
}

bool has_come(const Fd& end) noexcept {
  signalfd_siginfo info{};
  return ::read(end.get(), &info, sizeof info) == sizeof info;
}

Ticker::Ticker(TimePoint begin, nanoseconds interval, nanoseconds longest_period)
    : reads_per_interval_((interval + longest_period - nanoseconds(1)) / longest_period),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  const nanoseconds period = interval / reads_per_interval_;
  const itimerspec spec{.it_interval = to_timespec(period),
                        .it_value = to_timespec(begin.time_since_epoch() + period)};
  if (!timer_ || ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0) {
    throw Error("cannot make a timer: " + std::generic_category().message(errno));
  }
}

bool Ticker::ends_interval() noexcept {
  std::uint64_t expired = 0;
  if (::read(timer_.get(), &expired, sizeof expired) != sizeof expired) return false;
  late_ += expired - 1;
  const std::uint64_t before = reads_ / static_cast<std::uint64_t>(reads_per_interval_);
  reads_ += expired;
  return reads_ / static_cast<std::uint64_t>(reads_per_interval_) != before;
}

bool wait_for_tick(Ticker& ticker, LiveOutput& out, const Fd& end) {
  return wait_for_tick(ticker, &out, end);
}

bool wait_for_tick(Ticker& ticker, const Fd& end) { return wait_for_tick(ticker, nullptr, end); }

}  // namespace wattle::app
