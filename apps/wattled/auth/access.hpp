// Decides whether a request is permitted. Refusals have zeusd's order of checks, statuses and
// texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "auth/token.hpp"

namespace wattle::daemon {

/// Who may use a route that belongs to no scope.
enum class RouteAccess : std::uint8_t {
  everybody,  ///< needs no token
  any_token,
  all_reading_scopes,   ///< a token with every enabled reading scope
  token_if_key_is_set,  ///< any token; 404 if the daemon has no signing key
};
/// The requirement of a route: a scope, or a `RouteAccess`.
using RouteRequirement = std::variant<TokenScope, RouteAccess>;

/// A refusal: `status` with the JSON {"error": error}. A 401 also has the header `WWW-Authenticate:
/// kChallenge`.
struct Denial {
  int status = 0;
  std::string error;

  bool operator==(const Denial&) const = default;
};

inline constexpr std::string_view kChallenge = "Bearer realm=\"zeusd\"";

/// The claims of the token in an `Authorization` header (absent: the request has none). The value
/// must be `Bearer ` (case-sensitive) and a token that `verify` accepts. Threads: any.
[[nodiscard]] std::variant<Claims, Denial> authenticate(
    std::optional<std::string_view> authorization, std::string_view key, std::int64_t now_unix_s,
    std::string_view audience = {});

/// The answer for a token that `verify` refuses: 401.
[[nodiscard]] Denial token_refused();

/// The token in an `Authorization` header that `authenticate` accepted.
[[nodiscard]] std::string_view bearer_token(std::string_view authorization) noexcept;

/// Nothing if `claims` name the scope; otherwise 403.
[[nodiscard]] std::optional<Denial> authorize(const Claims& claims, TokenScope needed);

/// The answer for every route of a disabled group, with any token: 404.
[[nodiscard]] Denial group_disabled(TokenScope group);

/// The answer for a change of GPU settings over TCP if the daemon has no signing key: 403.
[[nodiscard]] Denial control_needs_key();

/// The answer for a peer that exceeded its `FailureLimit`: 429.
[[nodiscard]] Denial too_many_failures();

/// The answer for /auth/... if the daemon has no signing key: 404.
[[nodiscard]] Denial authentication_disabled();

}  // namespace wattle::daemon
