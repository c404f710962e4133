// Who may ask: tokens (JWT, HS256 only) as zeusd makes and takes them.
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

/// What a token may be good for. Each route of the server names the one it needs.
enum class Scope : std::uint8_t { gpu_control, gpu_read, cpu_read };

/// As they are written in tokens.
inline constexpr std::array<std::pair<std::string_view, Scope>, 3> kScopes = {
    {{"gpu-read", Scope::gpu_read},
     {"cpu-read", Scope::cpu_read},
     {"gpu-control", Scope::gpu_control}}};
[[nodiscard]] std::string_view name_of(Scope scope) noexcept;
[[nodiscard]] std::optional<Scope> parse_scope(std::string_view name) noexcept;

/// What a token says. Threads: a value type.
struct Claims {
  std::string subject;  ///< valid UTF-8, otherwise any characters: escape it where it is printed
  std::vector<Scope> scopes;
  /// Unix time from which the token is no longer good; absent: good for ever.
  std::optional<std::int64_t> expires_unix_s;
  /// Who it is for (`aud`); empty: for every server with the key.
  std::string audience{};

  bool operator==(const Claims&) const = default;
};

/// Why a token was refused. There are no finer causes on purpose: who guesses learns nothing, and
/// only who has a token that was good once is told that it expired.
enum class TokenFault : std::uint8_t { invalid, expired };

/// A longer token is refused unread.
inline constexpr std::size_t kMaxTokenBytes = 8192;
/// How long after its expiry (and before its `nbf`) a token is taken, for clocks that differ; that
/// of zeusd.
inline constexpr std::int64_t kTokenLeewaySeconds = 60;

/// What `token` says, if it was signed with `key` and is good at `now_unix_s`. One with audiences
/// is good only where `audience` is one of them; then that stands in the claims. The signature is
/// compared in constant time before anything else is looked at. Throws `Error` only where OpenSSL
/// cannot compute a signature at all. Threads: any.
[[nodiscard]] std::variant<Claims, TokenFault> verify(std::string_view token, std::string_view key,
                                                      std::int64_t now_unix_s,
                                                      std::string_view audience = {});

/// True if a token that expires then is not taken any more at `now_unix_s`.
[[nodiscard]] constexpr bool is_past(std::int64_t expires_unix_s,
                                     std::int64_t now_unix_s) noexcept {
  return expires_unix_s < now_unix_s - kTokenLeewaySeconds;
}

/// The name of a token in logs: 32 hexadecimal digits, of which nobody learns the token. Threads:
/// any.
[[nodiscard]] std::string token_id(std::string_view token);

/// A token that says `claims`, byte for byte as zeusd writes it (which has no audience). Throws
/// `InvalidArgument` where the subject is not UTF-8, the expiry is before 1970, or the token would
/// be longer than `kMaxTokenBytes`. Threads: any.
[[nodiscard]] std::string issue(const Claims& claims, std::string_view key);

/// A token of these two JSON texts, whatever they say, signed with `key`: for `issue`, and for
/// tests of what else a holder of the key may send. Threads: any.
[[nodiscard]] std::string sign(std::string_view header, std::string_view claims,
                               std::string_view key);

/// True if `claims` name `needed`. Nothing implies anything: control does not include reading.
[[nodiscard]] bool grants(const Claims& claims, Scope needed) noexcept;

}  // namespace wattle::daemon
