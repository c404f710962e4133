// What the library has to say, to whoever listens.
#pragma once

#include <string_view>

namespace wattle {

/// Gives `message` to the log that `set_log` set; does nothing where none is set. Not for reading
/// paths: it takes a lock. Never throws. Threads: any.
void log(std::string_view message) noexcept;

}  // namespace wattle
