#include "live_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

LiveOutput::LiveOutput() : fd_(Output::open("-", false).release()) {}

bool LiveOutput::put(std::string_view text) {
  if (over_) return false;
  // For a pipe this means room for 4 KiB at least, which a line is shorter than.
  pollfd ready{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) == 0) return false;
  const int error = write_all(fd_.get(), text);
  over_ = error == EPIPE;
  if (error != 0 && !over_) throw WriteError("stdout", error);
  return !over_;
}

void LiveOutput::close() {
  if (::close(fd_.release()) != 0 && errno != EINTR) throw WriteError("stdout", errno);
}

}  // namespace wattle::app
