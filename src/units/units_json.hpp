// Units of work as JSON: written for reports and for Python, and read back from records.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "wattle/work_units.hpp"

namespace wattle {

/// The member `units` of a run's JSON.
[[nodiscard]] nlohmann::ordered_json json_of(const UnitsReport& report);

/// The same read back. Its numbers may be foreign: rows with numbers that no measurement has are
/// left out, and so are rows beyond the most that a run has. Leaves `into` as it is where `json` is
/// no object.
void take(const nlohmann::ordered_json& json, std::optional<UnitsReport>& into);

}  // namespace wattle
