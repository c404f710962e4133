// The command line.
#pragma once

#include <any>
#include <variant>

#include "cli/answer.hpp"
#include "cli/subcommand.hpp"

namespace wattle::app {

/// A sub-command and its options, which are right.
struct Chosen {
  const Subcommand* subcommand;
  std::any options;
};

using ParsedLine = std::variant<Chosen, Answer>;

/// Reads `argv`. Never throws for what the user wrote: that gives an `Answer`.
[[nodiscard]] ParsedLine parse_command_line(int argc, const char* const* argv);

}  // namespace wattle::app
