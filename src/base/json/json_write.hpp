// Values as JSON: in their SI unit, and null where they are not known.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/text/quantity.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// In seconds. No time here is known more finely: a sum of doubles is written as 0.2091, not as
/// 0.20909999999999998.
[[nodiscard]] inline double whole_nanoseconds(Seconds time) noexcept {
  constexpr double kMost = 9e9;  // what 64 bits of nanoseconds hold
  if (!(std::abs(time.count()) < kMost)) return time.count();
  return static_cast<double>(std::llround(time.count() * 1e9)) / 1e9;
}

template <class T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}
template <class Tag>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<Quantity<Tag>>& value) {
  return or_null(si(value));
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

/// A list of what `json_of_one` makes of each value.
template <class Values, class ToJson>
[[nodiscard]] nlohmann::ordered_json json_list(const Values& values, ToJson json_of_one) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& value : values) list.push_back(json_of_one(value));
  return list;
}

/// On one line without its end; what is not UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace wattle
