// Units of work as JSON: written for reports and for Python, and read back from records.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "wattle/work_units.hpp"

namespace wattle {

/// The member `units` of a run's JSON.
[[nodiscard]] nlohmann::ordered_json units_json(const UnitsReport& report);

/// The same read back. It may be foreign: texts are made printable, rows with numbers that no
/// measurement has are left out, and so are rows beyond the most that a run has. Absent where
/// `json` is no object.
[[nodiscard]] std::optional<UnitsReport> units_of(const nlohmann::ordered_json& json);

}  // namespace wattle
