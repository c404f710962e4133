// Structs as JSON objects: their keys are listed once, and are written and read by that list.
//
// An item of a list has `write(json, object)` and `read(json, into)`: see `Field` and those after
// it.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/json/json_read.hpp"
#include "base/json/json_write.hpp"

namespace wattle {

/// The fields of `T` in the order of its keys. Specialized for each struct that is an object.
template <class T>
inline constexpr std::tuple<> kFields;

template <class T>
concept HasFields = !std::same_as<decltype(kFields<T>), const std::tuple<>>;

// Writing: what is not known is null.

[[nodiscard]] inline nlohmann::ordered_json json_of(const std::string& text) {
  return text_or_null(text);
}
[[nodiscard]] inline nlohmann::ordered_json json_of(const std::vector<std::string>& texts) {
  return texts;
}
template <class T>
  requires std::integral<T> || std::floating_point<T>
[[nodiscard]] nlohmann::ordered_json json_of(T number) {
  return number;
}
[[nodiscard]] inline nlohmann::ordered_json json_of(Seconds time) {
  return whole_nanoseconds(time);
}
template <class Tag>
[[nodiscard]] nlohmann::ordered_json json_of(Quantity<Tag> quantity) {
  return quantity.si();
}
template <HasFields T>
[[nodiscard]] nlohmann::ordered_json json_of(const T& object);
template <HasFields T>
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<T>& objects) {
  return json_list(objects, [](const T& object) { return json_of(object); });
}
template <class T>
[[nodiscard]] nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : nlohmann::ordered_json(nullptr);
}

/// After the keys that `json` has, which is an object: one that became it here, without the memory
/// to do so, could not be destroyed.
template <class T, class... Items>
void add_fields(nlohmann::ordered_json& json, const T& object, const std::tuple<Items...>& items) {
  std::apply([&](const auto&... item) { (item.write(json, object), ...); }, items);
}
template <HasFields T>
nlohmann::ordered_json json_of(const T& object) {
  auto json = nlohmann::ordered_json::object();
  add_fields(json, object, kFields<T>);
  return json;
}

// Reading: what is missing, or of another kind, stays as it is.

template <HasFields T>
void take(const nlohmann::ordered_json& json, T& into);
template <HasFields T>
void take(const nlohmann::ordered_json& json, std::vector<T>& into) {
  for_each_object(json, [&](const auto& object) { take(object, into.emplace_back()); });
}
template <HasFields T>
void take(const nlohmann::ordered_json& json, std::optional<T>& into) {
  if (json.is_object()) take(json, into.emplace());
}
template <HasFields T>
void take(const nlohmann::ordered_json& json, std::optional<std::vector<T>>& into) {
  if (json.is_array()) take(json, into.emplace());
}

template <class T, class... Items>
void take_fields(const nlohmann::ordered_json& json, T& into, const std::tuple<Items...>& items) {
  std::apply([&](const auto&... item) { (item.read(json, into), ...); }, items);
}
template <HasFields T>
void take(const nlohmann::ordered_json& json, T& into) {
  take_fields(json, into, kFields<T>);
}

// The items of lists.

/// A key, and the member that has its value.
template <class T, class Value>
struct Field {
  const char* key;
  Value T::*member;

  void write(nlohmann::ordered_json& json, const T& object) const {
    json[key] = json_of(object.*member);
  }
  void read(const nlohmann::ordered_json& json, T& into) const {
    take(at(json, key), into.*member);
  }
};
template <class T, class Value>
Field(const char*, Value T::*) -> Field<T, Value>;

/// The items of a member, in the object of the whole.
template <class T, class Part, class Items>
struct Flattened {
  Part T::*member;
  Items items;

  void write(nlohmann::ordered_json& json, const T& object) const {
    add_fields(json, object.*member, items);
  }
  void read(const nlohmann::ordered_json& json, T& into) const {
    take_fields(json, into.*member, items);
  }
};
template <class T, class Part, class Items>
Flattened(Part T::*, Items) -> Flattened<T, Part, Items>;

/// A key whose value `make(object)` follows from others: it is written, and not read.
template <class Make>
struct Derived {
  const char* key;
  Make make;

  template <class T>
  void write(nlohmann::ordered_json& json, const T& object) const {
    json[key] = make(object);
  }
  template <class T>
  void read(const nlohmann::ordered_json& /*json*/, T& /*into*/) const {}
};
template <class Make>
Derived(const char*, Make) -> Derived<Make>;

/// A key whose value is written as `make(object)`, and read by `use(json of the value, into)`.
template <class Make, class Use>
struct Converted {
  const char* key;
  Make make;
  Use use;

  template <class T>
  void write(nlohmann::ordered_json& json, const T& object) const {
    json[key] = make(object);
  }
  template <class T>
  void read(const nlohmann::ordered_json& json, T& into) const {
    use(at(json, key), into);
  }
};
template <class Make, class Use>
Converted(const char*, Make, Use) -> Converted<Make, Use>;

}  // namespace wattle
