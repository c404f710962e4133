// The library's log messages, and the callback that gets them.
#pragma once

#include <string_view>

#include "wattle/export.hpp"

namespace wattle {

/// Gives `message` to the log that `set_log` set; does nothing where none is set. Not for reading
/// paths: it takes a lock. Never throws. Exported for the components. Threads: any.
WATTLE_EXPORT void log(std::string_view message) noexcept;

}  // namespace wattle
