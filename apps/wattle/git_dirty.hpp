// Whether the files of a git repository differ from its commit: git itself says so.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "runs/git_state.hpp"

namespace wattle::app {

/// Fills `dirty` of `git`, or says in `unknown` why that is not known: `git status` is missing,
/// fails or takes longer than `limit`. Untracked files do not count. Returns the process number of
/// a git that could not be ended in time; a child of this process. Threads: none.
[[nodiscard]] std::optional<pid_t> find_dirty(GitState& git, std::chrono::milliseconds limit);

}  // namespace wattle::app
