// Texts about connections, for the log and for their states.
#pragma once

#include <string>
#include <string_view>

namespace wattle::client {

inline constexpr std::string_view kCannotReach = "cannot reach ";
inline constexpr std::string_view kIsDenied = " is denied: ";

/// `endpoint`, `stream`: safe to print, as `reason`.
[[nodiscard]] inline std::string cannot_reach(std::string_view endpoint, std::string_view reason) {
  return std::string(kCannotReach).append(endpoint).append(": ").append(reason);
}
[[nodiscard]] inline std::string denied(std::string_view stream, std::string_view reason) {
  return std::string(stream).append(kIsDenied).append(reason);
}

/// For who reports the states, and would say it twice.
[[nodiscard]] inline bool is_about_connection(std::string_view message) noexcept {
  return message.starts_with(kCannotReach) || message.find(kIsDenied) != std::string_view::npos;
}

}  // namespace wattle::client
