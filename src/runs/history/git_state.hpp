// The commit that a folder is at, without running git.
#pragma once

#include <filesystem>
#include <optional>

#include "base/text/printable_text.hpp"

namespace wattle {

struct GitState {
  PrintableText commit;              ///< hexadecimal; empty: unknown, or a branch without a commit
  PrintableText branch{};            ///< empty: a detached HEAD
  std::optional<bool> dirty{};       ///< tracked files differ from the commit; absent: unknown
  PrintableText unknown{};           ///< why the commit or `dirty` is unknown; else empty
  std::filesystem::path worktree{};  ///< the folder that holds `.git`
};

/// Reads `.git` in `folder` or a folder above it: HEAD, refs and packed refs, also of a linked
/// worktree. `dirty` is absent. Absent if there is no repository.
[[nodiscard]] std::optional<GitState> read_git_state(const std::filesystem::path& folder);

}  // namespace wattle
