#include "cli/tick_wait.hpp"

#include <array>

#include "cli/end_signals.hpp"
#include "cli/patient_poll.hpp"

namespace wattle::app {

namespace {

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

bool wait_for_tick(Ticker& ticker, LiveOutput& out, const Fd& end) {
  return wait_for_tick(ticker, &out, end);
}

bool wait_for_tick(Ticker& ticker, const Fd& end) { return wait_for_tick(ticker, nullptr, end); }

}  // namespace wattle::app
