// Tokens (JWT, HS256 only), compatible with zeusd.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace wattle::daemon {

/// The permissions of a token. Each route names the scope that it needs.
enum class TokenScope : std::uint8_t { gpu_control, gpu_read, cpu_read };

/// The names of the scopes in tokens.
inline constexpr std::array<std::pair<std::string_view, TokenScope>, 3> kScopes = {
    {{"gpu-read", TokenScope::gpu_read},
     {"cpu-read", TokenScope::cpu_read},
     {"gpu-control", TokenScope::gpu_control}}};
[[nodiscard]] std::string_view name_of(TokenScope scope) noexcept;
[[nodiscard]] std::optional<TokenScope> parse_scope(std::string_view name) noexcept;

/// The contents of a token. Threads: a value type.
struct Claims {
  std::string subject;  ///< valid UTF-8, otherwise any characters: escape it where it is printed
  std::vector<TokenScope> scopes;
  /// The Unix time at which the token expires; absent: never.
  std::optional<std::int64_t> expires_unix_s{};
  /// The server that it is for (`aud`); empty: every server with the key.
  std::string audience{};

  bool operator==(const Claims&) const = default;
};

/// Why a token was refused. There are no finer causes, so that guessing shows nothing. Only a token
/// with a valid signature is `expired`.
enum class TokenFault : std::uint8_t { invalid, expired };

/// Longer tokens are refused unread.
inline constexpr std::size_t kMaxTokenBytes = 8192;
/// The time after its expiry, and before its `nbf`, in which a token is still accepted, since
/// clocks differ. As in zeusd.
inline constexpr std::int64_t kTokenLeewaySeconds = 60;

/// The claims of `token`, if it is signed with `key` and valid at `now_unix_s`. A token with
/// audiences is valid only if `audience` is one of them; the claims then have it. The signature is
/// checked first, in constant time. Throws `Error` only if OpenSSL cannot compute a signature.
/// Threads: any.
[[nodiscard]] std::variant<Claims, TokenFault> verify(std::string_view token, std::string_view key,
                                                      std::int64_t now_unix_s,
                                                      std::string_view audience = {});

/// True if a token with that expiry is refused at `now_unix_s`.
[[nodiscard]] constexpr bool is_past(std::int64_t expires_unix_s,
                                     std::int64_t now_unix_s) noexcept {
  return expires_unix_s < now_unix_s - kTokenLeewaySeconds;
}

/// The name of a token in logs: 32 hexadecimal digits that do not reveal the token. Threads: any.
[[nodiscard]] std::string token_id(std::string_view token);

/// A token with `claims`, byte for byte as zeusd writes it (zeusd has no audience). Throws
/// `InvalidArgument` if the subject is not UTF-8, the expiry is before 1970, or the token is longer
/// than `kMaxTokenBytes`. Threads: any.
[[nodiscard]] std::string issue(const Claims& claims, std::string_view key);

/// Signs any two JSON texts with `key`: for `issue`, and for tests of unusual tokens. Threads: any.
[[nodiscard]] std::string sign(std::string_view header, std::string_view claims,
                               std::string_view key);

/// True if `claims` name `needed`. No scope includes another: control does not include reading.
[[nodiscard]] bool grants(const Claims& claims, TokenScope needed) noexcept;

}  // namespace wattle::daemon
