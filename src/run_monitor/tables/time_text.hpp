// Times of day as the run monitor's files show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wattle {

/// "2026-11-21T01:50:09.123+00:00"
[[nodiscard]] std::string utc_text(double unix_s);

/// The inverse, in milliseconds since 1970; absent for any other text.
[[nodiscard]] std::optional<std::int64_t> parse_utc_ms(std::string_view text) noexcept;

/// "2026/11/21 01:50:09.123" in the local zone, as nvidia-smi writes it.
[[nodiscard]] std::string local_text(double unix_s);

/// "2026/11/21 01:50:09.123" in milliseconds since 1970, as if the zone were UTC; absent for any
/// other text.
[[nodiscard]] std::optional<std::int64_t> parse_local_ms(std::string_view text) noexcept;

}  // namespace wattle
