// Reads from the machine what `wattle doctor --fix` depends on.
#pragma once

#include "machine/fix_plan.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// Not thread-safe: reads the environment.
[[nodiscard]] FixFacts find_facts(const System& system);

}  // namespace wattle::app
