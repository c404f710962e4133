// Suggestions for mistyped words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// The word of `words` that `word` was to be: the only one that starts with it, or else the one
/// that takes the fewest steps, at most one for three of its bytes (one for two). A step leaves
/// out, adds or replaces a byte, or swaps two neighbours. Empty if none is so near; the first of
/// several.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string>& words);

/// "; did you mean WORD?" with the `nearest` of `words`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& words);

}  // namespace wattle
