// Whether the files of a git repository differ from its commit: git itself reports that.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>

#include "runs/history/git_state.hpp"

namespace wattle::app {

/// Fills `dirty` of `git`, or says in `unknown` why that is not known: git is missing, fails, takes
/// longer than `limit`, or all changed files go through a filter: nothing that the repository names
/// is run. Untracked files, and changes within submodules, do not count. Returns the process
/// numbers of commands that could not be ended in time; children of this process. Threads: none.
[[nodiscard]] std::set<pid_t> find_dirty(GitState& git, std::chrono::milliseconds limit);

}  // namespace wattle::app
