#include "cli/subcommands.hpp"

#include <algorithm>
#include <array>

namespace wattle::app {

#define WATTLE_SUBCOMMAND(name) extern const Subcommand k##name##Subcommand;
#include "cli/subcommands.def"
#undef WATTLE_SUBCOMMAND

namespace {

constexpr std::array kSubcommands = {
#define WATTLE_SUBCOMMAND(name) &k##name##Subcommand,
#include "cli/subcommands.def"
#undef WATTLE_SUBCOMMAND
};

}  // namespace

std::span<const Subcommand* const> subcommands() noexcept { return kSubcommands; }

const Subcommand* find_subcommand(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kSubcommands, name, &Subcommand::name);
  return found == kSubcommands.end() ? nullptr : *found;
}

}  // namespace wattle::app
