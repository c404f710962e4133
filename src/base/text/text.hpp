// Foreign text made safe to print, and lists as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/export.hpp"

namespace wattle {

/// `text` with control characters, and bytes that are not valid UTF-8, as \xHH: it cannot move a
/// terminal's cursor nor break a line. Past `max_bytes` of input it ends in "...".
/// Exported for the components.
[[nodiscard]] WATTLE_EXPORT std::string printable(std::string_view text,
                                                  std::size_t max_bytes = 200);

/// `text` with each byte that is not part of well-formed UTF-8 as U+FFFD, the sign for what cannot
/// be shown. Exported for the component wattle::mongodb.
[[nodiscard]] WATTLE_EXPORT std::string valid_utf8(std::string_view text);

/// "1 run", "3 runs": a number, and a noun whose plural ends in "s".
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun);

/// FNV-1a (draft-eastlake-fnv): names a text, keeps no secret.
[[nodiscard]] std::uint64_t hash_of(std::string_view text) noexcept;

/// A cell of a table of comma-separated values (RFC 4180).
[[nodiscard]] std::string csv_cell(std::string_view text, char separator = ',');

/// A word of a command line as one would type it: in single quotes where a shell needs them,
/// and `printable`.
[[nodiscard]] std::string shell_quoted(std::string_view word);
/// A command line of such words.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

/// The texts of `values` with `separator` between them. `text_of`: from a value to its text.
template <class Range, class Text = std::identity>
[[nodiscard]] std::string joined(const Range& values, std::string_view separator,
                                 Text text_of = {}) {
  std::string text;
  std::string_view before;
  for (const auto& value : values) {
    text += before;
    text += std::invoke(text_of, value);
    before = separator;
  }
  return text;
}

}  // namespace wattle
