// What the daemon reports on stderr: one line for each event. The text of foreign bytes in it is
// for the caller to make printable. Nobody waits for whoever reads stderr: lines that find no room
// are dropped, and a later line gives their number.
#pragma once

#include <string_view>

namespace wattle::daemon {

/// Threads: any.
void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

/// As the last of a program: `text` as it is, whole lines, after all that was logged. Waits for the
/// reader of stderr, but for a moment only. Threads: any.
void end_log(std::string_view text = {});

}  // namespace wattle::daemon
