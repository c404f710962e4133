// The hash by which a Content-Security-Policy names a script or a style.
#pragma once

#include <string>
#include <string_view>

namespace wattle::html {

/// "sha256-" and the SHA-256 of `content` in base64: FIPS 180-4, RFC 4648.
[[nodiscard]] std::string content_hash(std::string_view content);

}  // namespace wattle::html
