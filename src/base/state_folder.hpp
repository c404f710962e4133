// Where programs keep what should outlive them.
#pragma once

#include <filesystem>
#include <string_view>

namespace wattle {

/// Wattle's folder, which need not exist, in the one that `variable` names, or else in `in_home` of
/// the home folder. Throws `Error`, which calls it `what`, where there is neither. A program with
/// privileges of its own (setuid) has none. Threads: none that changes variables.
[[nodiscard]] std::filesystem::path own_folder(std::string_view what, const char* variable,
                                               const char* in_home);
/// "$XDG_STATE_HOME/wattle", or in ~/.local/state.
[[nodiscard]] std::filesystem::path state_folder();

/// The path of a file that does not exist yet, in the folder `what` of Wattle's state folder, which
/// is made: "$XDG_STATE_HOME/wattle/usage/4711-1763690000123-0.jsonl". Throws `WriteError` where
/// the folder cannot be made, and as `state_folder`. Threads: any.
[[nodiscard]] std::filesystem::path new_state_file(std::string_view what,
                                                   std::string_view extension);

}  // namespace wattle
