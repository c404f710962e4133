// For how long a token is good.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wattle::daemon {

/// "90s", "5min", "1h", "30days", "1y", also put together ("1h 30m"), with the units of zeusd;
/// seconds, up to 1000 years. "never", "0": 0. Absent where it is none of that.
[[nodiscard]] std::optional<std::int64_t> parse_lifetime(std::string_view text);

}  // namespace wattle::daemon
