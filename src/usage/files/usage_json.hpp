// Resource usage as JSON, and as the text that gpu_tracker makes of that.
#pragma once

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/json/json_read.hpp"
#include "base/json/json_write.hpp"
#include "usage/files/usage_fields.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// `source`, `subject`, `reason` and `remedy` of each.
template <class Refused>
[[nodiscard]] nlohmann::ordered_json refused_json(const std::vector<Refused>& refused) {
  return json_list(refused, [](const Refused& refusal) {
    return nlohmann::ordered_json{{"source", refusal.source},
                                  {"subject", refusal.subject},
                                  {"reason", refusal.reason},
                                  {"remedy", text_or_null(refusal.remedy)}};
  });
}
/// The same read back. Old versions called the remedy `hint`.
template <class Refused>
void take_refused(const nlohmann::ordered_json& json, std::vector<Refused>& into) {
  for_each_object(json, [&](const nlohmann::ordered_json& one) {
    Refused refusal{};
    take_member(one, "source", refusal.source);
    take_member(one, "subject", refusal.subject);
    take_member(one, "reason", refusal.reason);
    take_member(one, one.contains("remedy") ? "remedy" : "hint", refusal.remedy);
    into.push_back(std::move(refusal));
  });
}
/// `kind` and `reason` of what is missing in a sum.
[[nodiscard]] nlohmann::ordered_json missing_kinds_json(const std::vector<Refusal>& missing);

/// The five groups, in their order.
[[nodiscard]] nlohmann::ordered_json usage_groups(const ResourceUsage& usage);
/// All of `ResourceUsage::to_native_json`.
[[nodiscard]] nlohmann::ordered_json native_json(const ResourceUsage& usage);

/// The reverse. What is not there, or is of another kind, is not known. Never throws for what the
/// file holds.
[[nodiscard]] ResourceUsage usage_from_native_json(const nlohmann::ordered_json& native);

inline constexpr const char* kTrackSchema = "wattle.track/2";
/// In which `remedy` was called `hint`. It is still read.
inline constexpr const char* kFirstTrackSchema = "wattle.track/1";

}  // namespace wattle
