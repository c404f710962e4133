// Resource usage as JSON, and as the text that gpu_tracker makes of that.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json/json_write.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

[[nodiscard]] nlohmann::ordered_json json_of(const Flags& flags);
/// `source`, `subject`, `reason` and `remedy` of each.
template <class Refused>
[[nodiscard]] nlohmann::ordered_json refused_json(const std::vector<Refused>& refused) {
  auto list = nlohmann::ordered_json::array();
  for (const Refused& refusal : refused) {
    list.push_back({{"source", refusal.source},
                    {"subject", refusal.subject},
                    {"reason", refusal.reason},
                    {"remedy", text_or_null(refusal.remedy)}});
  }
  return list;
}
/// `kind` and `reason` of what is missing in a sum.
[[nodiscard]] nlohmann::ordered_json missing_kinds_json(const std::vector<Refusal>& missing);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<AlternativeEnergy>& alternatives);

/// The five groups, in their order.
[[nodiscard]] nlohmann::ordered_json usage_groups(const ResourceUsage& usage);
/// The groups, and after them Wattle's own keys.
[[nodiscard]] nlohmann::ordered_json usage_json(const ResourceUsage& usage);
/// All of `ResourceUsage::to_native_json`.
[[nodiscard]] nlohmann::ordered_json native_json(const ResourceUsage& usage);

inline constexpr const char* kTrackSchema = "wattle.track/2";
/// In which `remedy` was called `hint`. It is still read.
inline constexpr const char* kFirstTrackSchema = "wattle.track/1";

}  // namespace wattle
