// Words of a command line that nothing takes, and what may have been meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

/// "run, track, ... or doctor".
[[nodiscard]] std::string names_of_commands(const CLI::App& app);

/// The message for an option or word that `command` does not take.
[[nodiscard]] std::string unexpected(const CLI::App& command, std::string_view word);
/// The same, of the first word that it did not take.
[[nodiscard]] std::string unexpected(const CLI::App& command);

/// The message for a first word that is no sub-command of `app`. If it is a program, that was to be
/// measured: `words` are the whole line.
[[nodiscard]] std::string no_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace wattle::app
