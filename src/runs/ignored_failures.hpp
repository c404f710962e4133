// Which failures of a command do not matter: --ignore-failure.
#pragma once

#include <optional>
#include <set>
#include <string_view>

namespace wattle {

/// Threads: a value type.
struct IgnoredFailures {
  bool all = false;
  std::set<int> codes{};  ///< exit statuses; 128 + N for signal N, as a shell has it

  /// True for a command that succeeded, or whose failure is ignored. Both absent: its status is
  /// unknown, which is a failure.
  [[nodiscard]] bool accept(std::optional<int> code, std::optional<int> signal) const;
};

/// "": none; "all-non-zero" and "true" (the option without a value): all; "1,2": these exit
/// statuses. Throws `InvalidArgument`.
[[nodiscard]] IgnoredFailures parse_ignored_failures(std::string_view text);

}  // namespace wattle
