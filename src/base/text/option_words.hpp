// Options that take one of some words, messages for wrong options, and suggestions for mistyped
// words.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wattle/error.hpp"
#include "wattle/export.hpp"

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

/// Words and their values, in the order in which messages list them.
template <class Value, std::size_t Size>
using WordTable = std::array<std::pair<std::string_view, Value>, Size>;

/// "OPTION takes A, B or C, not 'GIVEN'". Exported for `wattle stream`.
[[nodiscard]] WATTLE_EXPORT std::string unknown_word(std::string_view option,
                                                     const std::vector<std::string_view>& words,
                                                     std::string_view given);

/// A message of CLI11, printable. "OPTION: 1 required TYPE missing" becomes "OPTION needs a value:
/// TYPE". Exported for `wattle stream`.
[[nodiscard]] WATTLE_EXPORT std::string option_message(std::string_view message);

/// The value of the word `given`. Throws `InvalidArgument` if it is not in `table`.
template <class Value, std::size_t Size>
[[nodiscard]] Value value_of_word(std::string_view option, std::string_view given,
                                  const WordTable<Value, Size>& table) {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : table) {
    if (word == given) return value;
    words.push_back(word);
  }
  throw InvalidArgument(unknown_word(option, words, given));
}

}  // namespace wattle
