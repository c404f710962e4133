// A comparison as JSON, the same in every schema.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runs/run_cost.hpp"

namespace wattle {

/// Requires a ratio.
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison,
                                                     const std::string& reference,
                                                     const std::string& command);

}  // namespace wattle
