// Checks the characters of a token.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::client {

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
