// What a token may be made of.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle::client {

/// Throws `InvalidArgument` for a token that no head may hold (blanks, line ends, other than
/// ASCII): it would end the line and begin another. The message does not show the token. Threads:
/// any.
inline void check_token(std::string_view token, std::string_view endpoint) {
  // What a JWT is made of, and whatever else stands in a head without changing it.
  const auto is_token_character = [](char c) { return c > ' ' && c < '\x7f'; };
  if (std::ranges::all_of(token, is_token_character)) return;
  throw InvalidArgument("the token for " + printable(endpoint) +
                        " holds blanks, line ends or other characters that no token has: give it "
                        "as it was issued");
}

}  // namespace wattle::client
