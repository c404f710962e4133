// Runs one command and waits for its end.
#pragma once

#include <string>
#include <vector>

#include "control/command_overrides.hpp"

namespace wattle::daemon {

/// Runs the command in its own process group, with /dev/null as stdin. After `how.timeout` the
/// group is killed. Returns why the command failed (not started, exit status, signal, matching
/// output) with its output, safe to print; empty: it succeeded. Requires one thread, and the
/// default disposition of SIGCHLD.
[[nodiscard]] std::string run_command(const std::vector<std::string>& words,
                                      const CommandOverride& how);

}  // namespace wattle::daemon
