// A power with its uncertainty, as `quantity.hpp` has it for an energy.
#pragma once

#include <string>

#include "wattle/units.hpp"

namespace wattle {

/// "41.20 W ±0.34 W": the uncertainty with two digits, the power to the same place.
[[nodiscard]] std::string to_text(Watts power, Watts uncertainty);

}  // namespace wattle
