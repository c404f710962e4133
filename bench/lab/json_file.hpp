// The lab's results as JSON, schema "wattle.lab/1".
#pragma once

#include <string>

#include "lab/results.hpp"

namespace wattle::lab {

/// Energies in joules, times in seconds; errors, widths and shares as parts, not percent. What was
/// not found is null.
[[nodiscard]] std::string json_of(const Results& results);

}  // namespace wattle::lab
