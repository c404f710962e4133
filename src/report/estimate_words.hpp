// Estimates and shares in words and in JSON. Never where a measurement stands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/share.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

/// What names the option that estimates, after the reason why there is no energy.
inline constexpr const char* kEstimateHint = "--estimate prints a range instead";

/// "~46 J (17 J to 210 J)".
[[nodiscard]] std::string range_text(const EnergyRange& range);
/// Lines; each has "not measured" or continues such a line.
[[nodiscard]] std::vector<std::string> words_of(const EnergyEstimate& estimate);
[[nodiscard]] std::vector<std::string> words_of(const EnergyShare& share);

/// Null where it is absent.
[[nodiscard]] nlohmann::ordered_json json_of(const std::optional<EnergyEstimate>& estimate);
[[nodiscard]] nlohmann::ordered_json json_of(const std::optional<EnergyShare>& share);

}  // namespace wattle
