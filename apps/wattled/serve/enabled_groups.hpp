// The groups of `--enable`.
#pragma once

#include <string_view>
#include <vector>

#include "auth/token.hpp"

namespace wattle::daemon {

struct EnabledGroups {
  std::vector<TokenScope> scopes;  ///< each once; if none is listed, those for reading
  bool has_dashboard = false;
  bool has_shares = false;
};

/// Throws `InvalidArgument` for an unknown word or an empty list.
[[nodiscard]] EnabledGroups enabled_groups(std::string_view list);

}  // namespace wattle::daemon
