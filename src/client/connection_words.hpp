// Texts about connections, for the log, for their states and for errors.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/text.hpp"
#include "wattle/error.hpp"
#include "wire/messages.hpp"

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

/// "it shows CPU energy once per 1 s, in steps of 1 J: WHY; WHAT TO DO". Threads: any.
[[nodiscard]] inline std::string to_string(const wire::CpuLimit& limit) {
  return fmt::format("it shows CPU energy once per {:g} s, in steps of {:g} J: {}; {}",
                     limit.period_s, limit.quantum_j, limit.reason, limit.remedy);
}

/// Throws `InvalidArgument` for a token with blanks, line ends or non-ASCII characters, which could
/// start another header line. The message does not show the token. Threads: any.
inline void check_token(std::string_view token, std::string_view endpoint) {
  // The characters of a JWT, and all others that are harmless in a header.
  const auto is_token_character = [](char c) { return c > ' ' && c < '\x7f'; };
  if (std::ranges::all_of(token, is_token_character)) return;
  throw InvalidArgument("the token for " + printable(endpoint) +
                        " holds blanks, line ends or other characters that no token has: give it "
                        "as it was issued");
}

}  // namespace wattle::client
