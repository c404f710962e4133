// One command, from its start to its end.
#pragma once

#include <string>
#include <vector>

#include "command_overrides.hpp"

namespace wattle::daemon {

/// Runs the command with /dev/null as stdin, in a process group of its own, which is killed where
/// it takes longer than `how.timeout`. Why it failed, with what it printed, safe to print: it
/// cannot be started, its exit status, a signal, its output. Empty: it did not. For a program with
/// one thread, whose SIGCHLD has its default disposition.
[[nodiscard]] std::string run_command(const std::vector<std::string>& words,
                                      const CommandOverride& how);

}  // namespace wattle::daemon
