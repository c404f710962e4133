#include "cli/patient_poll.hpp"

#include <cerrno>
#include <ctime>

namespace wattle::app {

void patient_poll(std::span<pollfd> waited, int timeout_ms) noexcept {
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 10'000'000};
  if (::poll(waited.data(), waited.size(), timeout_ms) >= 0) return;
  const bool interrupted = errno == EINTR;
  if (!interrupted) ::nanosleep(&kMoment, nullptr);
  for (pollfd& fd : waited) fd.revents = interrupted || fd.fd < 0 ? short{0} : fd.events;
}

}  // namespace wattle::app
