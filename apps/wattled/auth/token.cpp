#include "auth/token.hpp"

#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "auth/base64url.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHeader = R"({"typ":"JWT","alg":"HS256"})";

/// Most nested objects and arrays in a token; ours have two.
constexpr std::size_t kMaxDepth = 4;

constexpr std::size_t kMacBytes = 32;

/// The HMAC-SHA256 of `message`, `kMacBytes` long.
std::string mac_of(std::string_view message, std::string_view key) {
  const std::vector<unsigned char> bytes(message.begin(), message.end());
  std::array<unsigned char, kMacBytes> mac{};
  const bool done = std::in_range<int>(key.size()) &&
                    ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes.data(),
                           bytes.size(), mac.data(), nullptr) != nullptr;
  if (!done) {
    throw Error(
        "cannot sign a token: OpenSSL has no HMAC-SHA256, or the key is too long; check "
        "OPENSSL_CONF");
  }
  return {mac.begin(), mac.end()};
}

/// True if `signature` is that of `message`. Takes constant time.
bool is_signed(std::string_view message, std::string_view signature, std::string_view key) {
  const std::string expected = mac_of(message, key);
  const auto given = from_base64url(signature);
  return given && given->size() == expected.size() &&
         ::CRYPTO_memcmp(given->data(), expected.data(), expected.size()) == 0;
}

/// The JSON object in one part of a token. Absent if it is invalid, too deep, or has a key twice,
/// since readers could then disagree.
std::optional<Json> object_in(std::string_view part) {
  const auto text = from_base64url(part);
  if (!text) return std::nullopt;
  bool is_sound = true;
  std::vector<std::set<std::string>> open;  // the keys so far of each open object
  const auto look = [&](int, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        open.emplace_back();
        is_sound = is_sound && open.size() <= kMaxDepth;
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        open.pop_back();
        break;
      case Json::parse_event_t::key:
        is_sound = open.back().insert(parsed.get<std::string>()).second && is_sound;
        break;
      case Json::parse_event_t::value:
        break;
    }
    return is_sound;
  };
  Json json = Json::parse(*text, look, false);
  if (!is_sound || !json.is_object()) return std::nullopt;
  return json;
}

std::optional<std::int64_t> integer_in(const Json& json) {
  const bool is_too_large =
      json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!json.is_number_integer() || is_too_large) return std::nullopt;
  return json.get<std::int64_t>();
}

bool is_our_header(const Json& header) {
  const auto algorithm = header.find("alg");
  const auto type = header.find("typ");
  // `crit` names extensions that must not be ignored (RFC 7515 4.1.11).
  return algorithm != header.end() && *algorithm == "HS256" &&
         (type == header.end() || type->is_string()) && !header.contains("crit");
}

std::optional<std::vector<TokenScope>> scopes_in(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<TokenScope> scopes;
  for (const Json& name : json) {
    const auto scope =
        name.is_string() ? parse_scope(name.get_ref<const std::string&>()) : std::nullopt;
    if (!scope) return std::nullopt;
    scopes.push_back(*scope);
  }
  return scopes;
}

/// True if `audience` is an audience of the token (RFC 7519, 4.1.3).
bool is_for(const Json& audiences, std::string_view audience) {
  if (audience.empty()) return false;
  if (!audiences.is_array()) return audiences == audience;
  return std::ranges::find(audiences, Json(audience)) != audiences.end();
}

/// The claims, without a check of their times. Absent if one is missing or has the wrong type, or
/// if the token is for another audience.
std::optional<Claims> claims_in(const Json& json, std::string_view audience) {
  const auto subject = json.find("sub");
  const auto scopes = json.find("scopes");
  if (subject == json.end() || !subject->is_string() || scopes == json.end()) return std::nullopt;
  const auto audiences = json.find("aud");
  if (audiences != json.end() && !is_for(*audiences, audience)) return std::nullopt;
  auto known = scopes_in(*scopes);
  if (!known) return std::nullopt;
  Claims claims{.subject = subject->get<std::string>(), .scopes = *std::move(known)};
  if (audiences != json.end()) claims.audience = audience;
  if (const auto expiry = json.find("exp"); expiry != json.end()) {
    claims.expires_unix_s = integer_in(*expiry);
    if (!claims.expires_unix_s) return std::nullopt;
  }
  return claims;
}

bool is_too_early(const Json& json, std::int64_t now_unix_s) {
  const auto begin = json.find("nbf");
  if (begin == json.end()) return false;
  const auto begin_unix_s = integer_in(*begin);
  return !begin_unix_s || *begin_unix_s > now_unix_s + kTokenLeewaySeconds;
}

}  // namespace

std::string_view name_of(TokenScope scope) noexcept {
  return std::ranges::find(kScopes, scope, [](const auto& each) { return each.second; })->first;
}

std::optional<TokenScope> parse_scope(std::string_view name) noexcept {
  for (const auto& [known, scope] : kScopes) {
    if (known == name) return scope;
  }
  return std::nullopt;
}

std::variant<Claims, TokenFault> verify(std::string_view token, std::string_view key,
                                        std::int64_t now_unix_s, std::string_view audience) {
  if (token.size() > kMaxTokenBytes) return TokenFault::invalid;
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == last || token.find('.', first + 1) != last) return TokenFault::invalid;
  if (!is_signed(token.substr(0, last), token.substr(last + 1), key)) return TokenFault::invalid;

  const auto header = object_in(token.substr(0, first));
  const auto payload = object_in(token.substr(first + 1, last - first - 1));
  if (!header || !payload || !is_our_header(*header)) return TokenFault::invalid;
  auto claims = claims_in(*payload, audience);
  if (!claims || is_too_early(*payload, now_unix_s)) return TokenFault::invalid;
  if (claims->expires_unix_s && is_past(*claims->expires_unix_s, now_unix_s)) {
    return TokenFault::expired;
  }
  return *std::move(claims);
}

std::string token_id(std::string_view token) {
  constexpr std::size_t kBytes = 16;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  if (::EVP_Digest(token.data(), token.size(), hash.data(), nullptr, ::EVP_sha256(), nullptr) !=
      1) {
    throw Error("cannot compute the id of a token: OpenSSL has no SHA-256; check OPENSSL_CONF");
  }
  return fmt::format("{:02x}", fmt::join(hash.begin(), hash.begin() + kBytes, ""));
}

std::string issue(const Claims& claims, std::string_view key) {
  if (valid_utf8(claims.audience) != claims.audience) {
    throw InvalidArgument("cannot issue a token for the audience '" + printable(claims.audience) +
                          "': a name must be UTF-8");
  }
  if (valid_utf8(claims.subject) != claims.subject) {
    throw InvalidArgument("cannot issue a token for '" + printable(claims.subject) +
                          "': a name must be UTF-8");
  }
  if (claims.expires_unix_s && *claims.expires_unix_s < 0) {
    throw InvalidArgument("cannot issue a token that expired before 1970: give a later expiry");
  }
  nlohmann::ordered_json json{{"sub", claims.subject}, {"scopes", nlohmann::ordered_json::array()}};
  for (const TokenScope scope : claims.scopes) json["scopes"].push_back(name_of(scope));
  if (claims.expires_unix_s) json["exp"] = *claims.expires_unix_s;
  if (!claims.audience.empty()) json["aud"] = claims.audience;
  std::string token = sign(kHeader, json.dump(), key);
  if (token.size() > kMaxTokenBytes) {
    throw InvalidArgument("cannot issue a token for '" + printable(claims.subject, 40) +
                          "': it would be longer than 8192 bytes; give a shorter name");
  }
  return token;
}

std::string sign(std::string_view header, std::string_view claims, std::string_view key) {
  std::string token = to_base64url(header) + '.' + to_base64url(claims);
  token += '.' + to_base64url(mac_of(token, key));
  return token;
}

bool grants(const Claims& claims, TokenScope needed) noexcept {
  return std::ranges::find(claims.scopes, needed) != claims.scopes.end();
}

}  // namespace wattle::daemon
