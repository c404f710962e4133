// Starts the daemon and runs it to its end.
#pragma once

#include "serve/options.hpp"

namespace wattle::daemon {

/// Serves until SIGTERM or SIGINT, then returns the exit status. Throws `Error` if it cannot start.
int serve(const ServeOptions& options);

}  // namespace wattle::daemon
