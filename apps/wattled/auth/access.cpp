#include "auth/access.hpp"

#include <utility>

#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

constexpr std::string_view kPrefix = "Bearer ";
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kTooManyRequests = 429;

std::string list_of(const std::vector<TokenScope>& scopes) {
  std::string text = "[";
  for (const TokenScope scope : scopes) {
    if (text.size() > 1) text += ", ";
    text.append("'").append(name_of(scope)).append("'");
  }
  return text + ']';
}

}  // namespace

std::variant<Claims, Denial> authenticate(std::optional<std::string_view> authorization,
                                          std::string_view key, std::int64_t now_unix_s,
                                          std::string_view audience) {
  if (!authorization || !authorization->starts_with(kPrefix)) {
    return Denial{kUnauthorized,
                  "Authentication required. Provide an Authorization: Bearer <token> header."};
  }
  auto result = verify(bearer_token(*authorization), key, now_unix_s, audience);
  if (auto* const claims = std::get_if<Claims>(&result)) return std::move(*claims);
  if (std::get<TokenFault>(result) == TokenFault::expired) {
    return Denial{kUnauthorized, "Token has expired."};
  }
  return token_refused();
}

Denial token_refused() { return {kUnauthorized, "Invalid token: it was not accepted."}; }

std::string_view bearer_token(std::string_view authorization) noexcept {
  return authorization.substr(kPrefix.size());
}

std::optional<Denial> authorize(const Claims& claims, TokenScope needed) {
  if (grants(claims, needed)) return std::nullopt;
  return Denial{kForbidden, "Token for user '" + printable(claims.subject) +
                                "' lacks required scope '" + std::string(name_of(needed)) +
                                "'. Token scopes: " + list_of(claims.scopes)};
}

Denial group_disabled(TokenScope group) {
  std::string error =
      "API group '" + std::string(name_of(group)) + "' is not enabled on this server.";
  // Zeus sets GPUs as soon as it uses a daemon, so the message names the remedy.
  if (group == TokenScope::gpu_control) {
    error += " To enable it: wattled serve --enable gpu-read,cpu-read,gpu-control.";
  }
  return {kNotFound, std::move(error)};
}

Denial control_needs_key() {
  return {kForbidden,
          "GPU control through TCP needs a token: start the server with --signing-key-path, or use "
          "its Unix socket."};
}

Denial too_many_failures() {
  return {kTooManyRequests, "Too many failed attempts to authenticate. Try again in a second."};
}

Denial authentication_disabled() {
  return {kNotFound, "Authentication is not enabled on this server."};
}

}  // namespace wattle::daemon
