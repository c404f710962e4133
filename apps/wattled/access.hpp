// Whether a request may be answered, and what is said where it may not: zeusd's order of checks,
// statuses and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "token.hpp"

namespace wattle::daemon {

/// Who may ask for something.
enum class Open : std::uint8_t {
  everybody,  ///< with a key in use too
  who_has_any_token,
  who_reads_all,   ///< whose token has the scopes of everything that is served
  where_keys_are,  ///< who has any token; without a key in use there is no such thing
};
/// A scope, or the rule for what belongs to none.
using Needed = std::variant<Scope, Open>;

/// A refusal: the answer is `status` with the JSON {"error": error}; a 401 also carries the header
/// `WWW-Authenticate: kChallenge`.
struct Denial {
  int status = 0;
  std::string error;

  bool operator==(const Denial&) const = default;
};

inline constexpr std::string_view kChallenge = "Bearer realm=\"zeusd\"";

/// The claims of the token in the value of a request's `Authorization` header (absent: it has
/// none). Nothing but `Bearer `, so written, and a token that `verify` takes will do. Threads: any.
[[nodiscard]] std::variant<Claims, Denial> authenticate(
    std::optional<std::string_view> authorization, std::string_view key, std::int64_t now_unix_s,
    std::string_view audience = {});

/// What a token is told that `verify` does not take.
[[nodiscard]] Denial token_refused();

/// The token in such a header. Only for one that `authenticate` took.
[[nodiscard]] std::string_view bearer_token(std::string_view authorization) noexcept;

/// Nothing if `claims` name the scope; otherwise 403.
[[nodiscard]] std::optional<Denial> authorize(const Claims& claims, Scope needed);

/// The answer for every route of a group that is switched off, whatever the token: 404.
[[nodiscard]] Denial group_disabled(Scope group);

/// The answer to who would set GPUs through TCP where no key is in use: 403.
[[nodiscard]] Denial control_needs_key();

/// The answer for a peer past its `FailureLimit`: 429.
[[nodiscard]] Denial too_many_failures();

/// The answer for /auth/... where no key is in use: 404.
[[nodiscard]] Denial authentication_disabled();

}  // namespace wattle::daemon
