// Domains in JSON: by their names.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/json/json_fields.hpp"
#include "wattle/domain.hpp"
#include "wattle/error.hpp"

namespace wattle {

/// No machine has more. Names of domains are kept until the program ends: those of foreign records
/// must not take all memory.
inline constexpr std::size_t kMostDomainsInJson = 1024;

[[nodiscard]] inline nlohmann::ordered_json json_of(const Domain& domain) { return domain.name(); }

/// The key of what has a domain, which `take_of_domains` reads before everything else.
inline constexpr auto kDomainItem =
    std::tuple(Derived("domain", [](const auto& object) { return object.domain.name(); }));

/// Leaves `into` as it is unless `json` is the name of a domain.
inline void take(const nlohmann::ordered_json& json, std::optional<Domain>& into) {
  if (!json.is_string()) return;
  try {
    into = Domain::parse(json.get_ref<const std::string&>());
  } catch (const InvalidArgument&) {
    return;  // of a newer version, or of nobody
  }
}

/// The objects of a list, each of the domain that its `key` names; those that name none are left
/// out.
template <class T, class... Items>
void take_of_domains(const nlohmann::ordered_json& list, const char* key, std::vector<T>& into,
                     const std::tuple<Items...>& items) {
  for_each_object(list, [&](const nlohmann::ordered_json& object) {
    std::optional<Domain> domain;
    take(at(object, key), domain);
    if (!domain || into.size() >= kMostDomainsInJson) return;
    into.push_back(T{.domain = *domain});
    take_fields(object, into.back(), items);
  });
}

/// A list of objects with these items.
template <class T, class... Items>
[[nodiscard]] nlohmann::ordered_json list_of(const std::vector<T>& objects,
                                             const std::tuple<Items...>& items) {
  auto list = nlohmann::ordered_json::array();
  for (const T& object : objects) {
    auto& json = list.emplace_back(nlohmann::ordered_json::object());
    add_fields(json, object, items);
  }
  return list;
}

}  // namespace wattle
