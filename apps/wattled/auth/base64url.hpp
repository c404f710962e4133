// Base64url without padding (RFC 4648, section 5), as in tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wattle::daemon {

[[nodiscard]] std::string to_base64url(std::string_view bytes);

/// The decoded bytes. Absent unless `text` is exactly what `to_base64url` makes: no padding, no
/// blanks, no set bits after the end.
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

}  // namespace wattle::daemon
