// The daemon's log on stderr, one line per event. Callers make foreign text printable. The log
// never blocks on a slow reader: lines without room are dropped, and a later line reports their
// number.
#pragma once

#include <string_view>

namespace wattle::daemon {

/// Threads: any.
void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

/// Writes `text` (whole lines, unchanged) after everything logged so far, and waits briefly for the
/// reader of stderr. The last call of a program. Threads: any.
void end_log(std::string_view text = {});

}  // namespace wattle::daemon
