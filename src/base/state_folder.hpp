// Where programs keep what should outlive them.
#pragma once

#include <filesystem>
#include <string_view>

namespace wattle {

/// The path of a file that does not exist yet, in the folder `what` of Wattle's state folder, which
/// is made: "$XDG_STATE_HOME/wattle/usage/4711-0.jsonl", or in ~/.local/state. Throws `WriteError`
/// where the folder cannot be made, `Error` where neither variable names one. A program with
/// privileges of its own (setuid) has none. Threads: any.
[[nodiscard]] std::filesystem::path new_state_file(std::string_view what,
                                                   std::string_view extension);

}  // namespace wattle
