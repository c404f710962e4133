// The lifetime of a token, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wattle::daemon {

/// The seconds of "90s", "5min", "1h", "30days", "1y", or a sum ("1h 30m"), in zeusd's units; up to
/// 1000 years. "never" and "0": 0. Absent for any other text.
[[nodiscard]] std::optional<std::int64_t> parse_lifetime(std::string_view text);

}  // namespace wattle::daemon
