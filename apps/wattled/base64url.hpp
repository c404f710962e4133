// Base64 in the alphabet for URLs and without padding (RFC 4648 5), as tokens use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wattle::daemon {

[[nodiscard]] std::string to_base64url(std::string_view bytes);

/// The bytes; absent for all but the one text that `to_base64url` makes of them: no padding, no
/// blanks, no set bits past the end.
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

}  // namespace wattle::daemon
