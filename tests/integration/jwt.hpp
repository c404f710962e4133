// Tokens as other programs make them: nothing of the daemon's own is used.
#pragma once

#include <string>
#include <string_view>

namespace wattle::integration {

inline constexpr std::string_view kHs256 = R"({"typ":"JWT","alg":"HS256"})";

/// The three parts, signed with an HMAC of that hash. Any text may stand for header and claims.
[[nodiscard]] std::string jwt(std::string_view header, std::string_view claims,
                              std::string_view key, const char* hash = "SHA256");

/// One part: base64url without padding.
[[nodiscard]] std::string jwt_part(std::string_view bytes);

}  // namespace wattle::integration
