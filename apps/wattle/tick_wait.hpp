// Waiting between two lines of what is printed until Ctrl-C.
#pragma once

#include "base/fd.hpp"
#include "live_output.hpp"
#include "ticker.hpp"

namespace wattle::app {

/// Waits for the next tick, and writes meanwhile what `out` has not written yet; false where it is
/// time to end: `end` is readable, or nobody reads `out` any more.
[[nodiscard]] bool wait_for_tick(Ticker& ticker, LiveOutput& out, const Fd& end);

}  // namespace wattle::app
