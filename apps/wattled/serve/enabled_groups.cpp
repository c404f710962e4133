#include "serve/enabled_groups.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text/option_words.hpp"
#include "base/text/split.hpp"

namespace wattle::daemon {
namespace {

/// Absent: the dashboard, which is no scope.
using Group = std::optional<Scope>;

constexpr auto kGroups = [] {
  WordTable<Group, kScopes.size() + 1> groups{};
  std::ranges::copy(kScopes, groups.begin());
  groups.back() = {"dashboard", std::nullopt};
  return groups;
}();

}  // namespace

EnabledGroups enabled_groups(std::string_view list) {
  EnabledGroups enabled;
  for (const std::string& item : items_of(list)) {
    const Group group = value_of_word("--enable", item, kGroups);
    if (!group) {
      enabled.has_dashboard = true;
    } else if (std::ranges::count(enabled.scopes, *group) == 0) {
      enabled.scopes.push_back(*group);
    }
  }
  if (!enabled.scopes.empty()) return enabled;
  if (!enabled.has_dashboard) {
    throw InvalidArgument("--enable takes a list of what to serve, not ''");
  }
  enabled.scopes = {Scope::gpu_read, Scope::cpu_read};
  return enabled;
}

}  // namespace wattle::daemon
