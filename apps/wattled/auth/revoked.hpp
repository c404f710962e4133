// Tokens that are revoked before they expire.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// Threads: a value type.
class Revoked {
 public:
  /// Each line of `text` is a token; `id ID` (see `token_id`); or `user NAME`, for all tokens of
  /// that subject. Empty lines and comments (#) are ignored. Throws `InvalidArgument` for any other
  /// line, so that no token stays valid by mistake.
  [[nodiscard]] static Revoked parse(std::string_view text);

  [[nodiscard]] bool contains(std::string_view token_id, std::string_view subject) const {
    return ids_.contains(token_id) || users_.contains(subject);
  }

 private:
  using Names = std::set<std::string, std::less<>>;
  Names ids_;
  Names users_;
};

/// Parses the file at `path`. Throws also if the file cannot be read.
[[nodiscard]] Revoked read_revoked(const std::string& path);

}  // namespace wattle::daemon
