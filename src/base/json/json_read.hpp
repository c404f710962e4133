// JSON that somebody else may have written, read without surprises: a member that is missing, or of
// another kind, leaves its target as it is.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wattle/units.hpp"

namespace wattle {

/// The whole of `text` as one JSON value; "discarded" where it is none. What is nested deeper than
/// Wattle writes is left out. Never throws for what the text holds.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text);

/// The member `key`; null where there is none, or `json` is no object.
[[nodiscard]] const nlohmann::ordered_json& at(const nlohmann::ordered_json& json, const char* key);

/// Absent where `json` is no whole number, or one that `T` cannot hold.
template <std::integral T>
[[nodiscard]] std::optional<T> read_number(const nlohmann::ordered_json& json) {
  const auto in_range = [](auto number) {
    return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
  };
  if (json.is_number_unsigned()) return in_range(json.get<std::uint64_t>());
  return json.is_number_integer() ? in_range(json.get<std::int64_t>()) : std::nullopt;
}

/// Calls `use` with each object of the list `json`. Elements of another kind are left out.
template <class Use>
void for_each_object(const nlohmann::ordered_json& json, Use use) {
  if (!json.is_array()) return;
  for (const nlohmann::ordered_json& element : json) {
    if (element.is_object()) use(element);
  }
}

// Each leaves `into` as it is where `json` is of another kind. A list leaves out such elements.

void take(const nlohmann::ordered_json& json, std::string& into);
void take(const nlohmann::ordered_json& json, double& into);
void take(const nlohmann::ordered_json& json, bool& into);
template <std::integral T>
void take(const nlohmann::ordered_json& json, T& into) {
  into = read_number<T>(json).value_or(into);
}
void take(const nlohmann::ordered_json& json, Seconds& into);
void take(const nlohmann::ordered_json& json, std::vector<std::string>& into);
template <class Tag>
void take(const nlohmann::ordered_json& json, Quantity<Tag>& into) {
  if (json.is_number()) into = Quantity<Tag>(json.get<double>());
}
template <class T>
void take(const nlohmann::ordered_json& json, std::optional<T>& into) {
  if constexpr (std::is_same_v<T, bool>) {
    if (json.is_boolean()) into = json.get<bool>();
  } else if constexpr (std::integral<T>) {
    if (const auto number = read_number<T>(json)) into = number;
  } else if (json.is_number()) {
    take(json, into.emplace());
  }
}

/// The same of the member `key` of `object`.
template <class T>
void take_member(const nlohmann::ordered_json& object, const char* key, T& into) {
  take(at(object, key), into);
}

}  // namespace wattle
