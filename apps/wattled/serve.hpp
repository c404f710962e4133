// The daemon's life.
#pragma once

#include "options.hpp"

namespace wattle::daemon {

/// Serves until SIGTERM or SIGINT; the exit status. Throws `Error` where it cannot begin.
int serve(const ServeOptions& options);

}  // namespace wattle::daemon
