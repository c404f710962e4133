// What a tracker wrote, read back.
#pragma once

#include <nlohmann/json.hpp>

#include "wattle/tracker.hpp"

namespace wattle {

/// The reverse of `native_json`. What is not there, or is of another kind, is not known. Never
/// throws for what the file holds.
[[nodiscard]] ResourceUsage usage_from_native_json(const nlohmann::ordered_json& native);

}  // namespace wattle
