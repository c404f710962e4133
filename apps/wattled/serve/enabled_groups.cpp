#include "serve/enabled_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "base/text/option_words.hpp"
#include "base/text/split.hpp"

namespace wattle::daemon {
namespace {

/// Groups that are no scope.
enum class Extra : std::uint8_t { dashboard, shares };
using Group = std::variant<TokenScope, Extra>;

constexpr auto kGroups = [] {
  WordTable<Group, kScopes.size() + 2> groups{};
  std::ranges::copy(kScopes, groups.begin());
  groups[kScopes.size()] = {"dashboard", Extra::dashboard};
  groups.back() = {"shares", Extra::shares};
  return groups;
}();

}  // namespace

EnabledGroups enabled_groups(std::string_view list) {
  EnabledGroups enabled;
  for (const std::string& item : items_of(list)) {
    const Group group = value_of_word("--enable", item, kGroups);
    if (const Extra* const extra = std::get_if<Extra>(&group)) {
      (*extra == Extra::shares ? enabled.has_shares : enabled.has_dashboard) = true;
    } else if (std::ranges::count(enabled.scopes, std::get<TokenScope>(group)) == 0) {
      enabled.scopes.push_back(std::get<TokenScope>(group));
    }
  }
  if (!enabled.scopes.empty()) return enabled;
  if (!enabled.has_dashboard && !enabled.has_shares) {
    throw InvalidArgument("--enable takes a list of what to serve, not ''");
  }
  enabled.scopes = {TokenScope::gpu_read, TokenScope::cpu_read};
  return enabled;
}

}  // namespace wattle::daemon
