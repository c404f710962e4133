// The table of sub-commands.
#pragma once

#include <span>
#include <string_view>

#include "cli/subcommand.hpp"

namespace wattle::app {

/// In the order of `wattle --help`.
[[nodiscard]] std::span<const Subcommand* const> subcommands() noexcept;
/// Null if there is none of this name.
[[nodiscard]] const Subcommand* find_subcommand(std::string_view name) noexcept;

}  // namespace wattle::app
