// `wattle stream`: follows daemons until Ctrl-C.
#pragma once

#include "stream/stream_options.hpp"

namespace wattle::app {

/// Returns the exit status of the program. Throws `Error` for what nothing can be done about.
int follow(const StreamOptions& options);

}  // namespace wattle::app
