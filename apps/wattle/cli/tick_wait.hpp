// Waiting for the next tick, or Ctrl-C.
#pragma once

#include "base/files/fd.hpp"
#include "cli/ticker.hpp"
#include "output/live_output.hpp"

namespace wattle::app {

/// Waits for the next tick, and writes the rest of `out` in that time. False: time to end, since
/// `end` is readable or the reader of `out` is gone.
[[nodiscard]] bool wait_for_tick(Ticker& ticker, LiveOutput& out, const Fd& end);

/// The same without a text.
[[nodiscard]] bool wait_for_tick(Ticker& ticker, const Fd& end);

}  // namespace wattle::app
