// Errors for command lines of the daemon that CLI11 rejected.
#pragma once

#include <string>
#include <utility>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::daemon {

/// The innermost sub-command, and its full name: "wattled token issue".
[[nodiscard]] std::pair<const CLI::App*, std::string> innermost_command(const CLI::App& app);

/// The error for the first unknown word, with a suggestion, or for a missing command.
[[nodiscard]] std::string unknown_word_error(const CLI::App& app, const CLI::App& command);

}  // namespace wattle::daemon
