// What the daemon says on stderr: one line for each event. The text of foreign bytes in it is for
// the caller to make printable.
#pragma once

#include <string_view>

namespace wattle::daemon {

/// Threads: any.
void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

}  // namespace wattle::daemon
