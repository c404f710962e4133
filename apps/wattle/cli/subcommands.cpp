#include "cli/subcommands.hpp"

#include <algorithm>
#include <array>

namespace wattle::app {

#define WATTLE_SUBCOMMAND(name) extern const Subcommand name##_subcommand;
#include "cli/subcommands.def"
#undef WATTLE_SUBCOMMAND

namespace {

constexpr std::array kSubcommands = {
#define WATTLE_SUBCOMMAND(name) &name##_subcommand,
#include "cli/subcommands.def"
#undef WATTLE_SUBCOMMAND
};

}  // namespace

std::span<const Subcommand* const> subcommands() noexcept { return kSubcommands; }

const Subcommand* find_subcommand(std::string_view name) noexcept {
  const auto found = std::ranges::find(kSubcommands, name, &Subcommand::name);
  return found == kSubcommands.end() ? nullptr : *found;
}

}  // namespace wattle::app
