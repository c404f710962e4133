// Tokens that were taken back before they expire.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// Threads: a value type.
class Revoked {
 public:
  /// From a text with one of these in each line: a token; `id ID`, as `token_id` names it; `user
  /// NAME`, for all tokens of that subject. Empty lines, and what follows a '#', mean nothing.
  /// Throws `InvalidArgument` for any other line: a token that is meant to be revoked must not stay
  /// good.
  [[nodiscard]] static Revoked parse(std::string_view text);

  [[nodiscard]] bool contains(std::string_view token_id, std::string_view subject) const {
    return ids_.contains(token_id) || users_.contains(subject);
  }

 private:
  using Names = std::set<std::string, std::less<>>;
  Names ids_;
  Names users_;
};

/// Of the file at `path`; throws also where it cannot be read.
[[nodiscard]] Revoked read_revoked(const std::string& path);

}  // namespace wattle::daemon
