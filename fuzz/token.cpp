// Tokens: what stands in an Authorization header, and what a holder of the key may have signed. An
// input is a token; and the JSON of its header and, past a line end, of its claims.
#include "auth/token.hpp"

#include <string>
#include <variant>

#include "auth/base64url.hpp"
#include "check.hpp"

namespace {

using namespace wattle;
using daemon::Claims;

constexpr std::string_view kKey = "0123456789abcdef0123456789abcdef";
constexpr std::int64_t kNow = 1'763'690'000;

void check_claims(std::string_view token) {
  const auto result = daemon::verify(token, kKey, kNow);
  const auto* const claims = std::get_if<Claims>(&result);
  if (!claims) return;
  fuzz::require(!claims->expires_unix_s || *claims->expires_unix_s >= kNow - 60,
                "a token that is taken has not expired");
  const auto again = daemon::verify(daemon::issue(*claims, kKey), kKey, kNow);
  fuzz::require(again == std::variant<Claims, daemon::TokenFault>(*claims),
                "what a token says can be issued");
}

}  // namespace

FUZZ_TARGET(token)(const unsigned char* data, std::size_t size) {
  constexpr std::size_t kMaxInput = 4096;  // a token that is issued again must fit
  if (size > kMaxInput) return 0;
  const std::string_view text = fuzz::text_of(data, size);
  check_claims(text);

  const std::size_t end = text.find('\n');
  if (end != std::string_view::npos) {
    check_claims(daemon::sign(text.substr(0, end), text.substr(end + 1), kKey));
  }
  fuzz::require(daemon::from_base64url(daemon::to_base64url(text)) == text,
                "base64 gives the bytes back");
  if (const auto bytes = daemon::from_base64url(text)) {
    fuzz::require(daemon::to_base64url(*bytes) == text, "bytes have one base64");
  }
  return 0;
}
