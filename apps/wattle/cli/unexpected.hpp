// Messages for unknown commands, options and arguments, with what may have been meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text/cli11.hpp"

namespace wattle::app {

/// The message for an argument that is one too many.
[[nodiscard]] std::string unexpected_argument(std::string_view word);
/// The message for an option or argument that `command` does not have.
[[nodiscard]] std::string unexpected(const CLI::App& command, std::string_view word);
/// The same for the first unknown word after the parse of `parsed`, which is `command` or contains
/// it as a sub-command. Words after "--" are left to the outer command.
[[nodiscard]] std::string unexpected(const CLI::App& command, const CLI::App& parsed);

/// The message for a line `words` whose first word is no sub-command of `app`: a mistyped one, or a
/// program to be measured.
[[nodiscard]] std::string unknown_command(const CLI::App& app,
                                          const std::vector<std::string>& words);

}  // namespace wattle::app
