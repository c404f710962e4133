// The command line, and the table of sub-commands that it names.
#pragma once

#include <any>
#include <span>
#include <string_view>
#include <variant>

#include "cli/answer.hpp"
#include "cli/subcommand.hpp"

namespace wattle::app {

/// In the order of `wattle --help`.
[[nodiscard]] std::span<const Subcommand* const> subcommands() noexcept;
/// Null if there is none of this name.
[[nodiscard]] const Subcommand* find_subcommand(std::string_view name) noexcept;

/// A sub-command and its options, which are right.
struct Chosen {
  const Subcommand* subcommand;
  std::any options;
};

using ParsedLine = std::variant<Chosen, Answer>;

/// Reads `argv`. Never throws for what the user wrote: that gives an `Answer`.
[[nodiscard]] ParsedLine parse_command_line(int argc, const char* const* argv);

}  // namespace wattle::app
