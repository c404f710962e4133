// Resource usage as JSON, and as the text that gpu_tracker makes of that.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "wattle/tracker.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// A value in its SI unit, or null where it is not known.
template <class T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}
template <class Tag>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<Quantity<Tag>>& value) {
  return value ? nlohmann::ordered_json(value->si()) : nlohmann::ordered_json(nullptr);
}
/// In seconds. No time here is known more finely: a sum of doubles is written as 0.2091, not as
/// 0.20909999999999998.
[[nodiscard]] inline double whole_nanoseconds(Seconds time) noexcept {
  constexpr double kMost = 9e9;  // what 64 bits of nanoseconds hold
  if (!(std::abs(time.count()) < kMost)) return time.count();
  return static_cast<double>(std::llround(time.count() * 1e9)) / 1e9;
}
[[nodiscard]] inline nlohmann::ordered_json or_null(const std::optional<Seconds>& value) {
  return value ? nlohmann::ordered_json(whole_nanoseconds(*value))
               : nlohmann::ordered_json(nullptr);
}

/// With the digits that mean something; null where there is no energy.
[[nodiscard]] inline nlohmann::ordered_json uncertainty_or_null(const std::optional<Joules>& energy,
                                                                Joules uncertainty) {
  if (!energy) return nullptr;
  return with_two_digits(uncertainty).si();
}

/// Null where it is empty.
[[nodiscard]] inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

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
[[nodiscard]] nlohmann::ordered_json kinds_json(const std::vector<Refusal>& missing);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<AlternativeEnergy>& alternatives);

/// The five groups, in their order.
[[nodiscard]] nlohmann::ordered_json usage_groups(const ResourceUsage& usage);
/// The groups, and behind them Wattle's own keys.
[[nodiscard]] nlohmann::ordered_json usage_json(const ResourceUsage& usage);
/// All of `ResourceUsage::to_native_json`.
[[nodiscard]] nlohmann::ordered_json native_json(const ResourceUsage& usage);
/// On one line without its end; what is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string dumped(const nlohmann::ordered_json& json);

inline constexpr const char* kTrackSchema = "wattle.track/2";
/// In which `remedy` was called `hint`. It is still read.
inline constexpr const char* kFirstTrackSchema = "wattle.track/1";

}  // namespace wattle
