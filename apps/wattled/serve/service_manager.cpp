#include "serve/service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/text/parse.hpp"
#include "base/unix_address.hpp"

namespace wattle::daemon {
namespace {

/// The first inherited descriptor (SD_LISTEN_FDS_START).
constexpr int kFirstDescriptor = 3;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): set by nobody
  return value != nullptr ? value : "";
}

/// True if the variable names this process, or is not set.
bool is_for_us(const char* name) {
  const std::string text = variable(name);
  return text.empty() ||
         parse_unsigned<std::uint64_t>(text) == static_cast<std::uint64_t>(::getpid());
}

}  // namespace

std::vector<ListeningSocket> adopted_listeners() {
  const auto count = parse_unsigned<std::uint16_t>(variable("LISTEN_FDS"));
  const bool ours = !variable("LISTEN_PID").empty() && is_for_us("LISTEN_PID");
  for (const char* const name : {"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}) {
    ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread yet
  }
  std::vector<ListeningSocket> listeners;
  if (!ours || !count) return listeners;
  for (int fd = kFirstDescriptor; fd < kFirstDescriptor + *count; ++fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    listeners.push_back(adopt_listener(Fd(fd)));
  }
  return listeners;
}

ServiceManager::ServiceManager(Loop& loop) {
  const auto microseconds = parse_unsigned<std::uint64_t>(variable("WATCHDOG_USEC"));
  if (!microseconds || *microseconds == 0 || !is_for_us("WATCHDOG_PID")) return;
  constexpr std::uint64_t kLongest = 3'600'000'000;
  constexpr std::chrono::microseconds kShortest = std::chrono::milliseconds(1);
  const std::chrono::microseconds limit(std::min(*microseconds, kLongest));
  watchdog_ =
      std::make_unique<Pace>(loop, std::max(limit / 2, kShortest), [] { notify("WATCHDOG=1"); });
  watchdog_->start();
}

void ServiceManager::notify(std::string_view state) {
  std::string path = variable("NOTIFY_SOCKET");
  if (!path.starts_with('/') && !path.starts_with('@')) return;
  if (path.front() == '@') path.front() = '\0';
  const auto address = UnixAddress::of(path);
  if (!address || path.size() < 2) return;
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  (void)::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT, address->get(),
                 address->size());
}

}  // namespace wattle::daemon
