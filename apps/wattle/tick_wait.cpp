#include "tick_wait.hpp"

#include <poll.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "wattle/error.hpp"

namespace wattle::app {

bool wait_for_tick(Ticker& ticker, LiveOutput& out, const Fd& end) {
  std::array<pollfd, 3> waited = {pollfd{.fd = end.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = ticker.fd(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = -1, .events = POLLOUT, .revents = 0}};
  while (!out.is_over()) {
    waited[2].fd = out.has_rest() ? out.fd() : -1;
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) {
      throw Error("cannot wait: " + std::generic_category().message(errno));
    }
    if ((waited[0].revents & POLLIN) != 0) return false;
    if ((waited[1].revents & POLLIN) != 0 && ticker.ends_interval()) return true;
    if (waited[2].revents != 0) out.flush();
  }
  return false;
}

}  // namespace wattle::app
