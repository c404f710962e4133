// How wattle itself ends: as the command did, also when an exception cannot be handled, when there
// is no memory.
#pragma once

#include <sys/types.h>

#include "report/report.hpp"

namespace wattle::app {

/// From a status of waitpid(2).
[[nodiscard]] Exit exit_of(int status) noexcept;

/// Ends this process with the command's exit code, or by the signal that killed it.
[[noreturn]] void end_like(const Exit& exit) noexcept;

/// From now on such an end is a message and status 125, not a crash. Threads: the main one, first.
void end_in_good_order() noexcept;

/// From now on it is the end of the command instead, once that has ended. To be called when the
/// command has started.
void end_as_command(pid_t command) noexcept;
/// This process runs many commands, none of which is its end: it waits for the last one and ends
/// with status 125.
void outlive_commands() noexcept;
/// The command was waited for, with this status of waitpid(2).
void remember_status(int status) noexcept;

}  // namespace wattle::app
