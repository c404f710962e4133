// Foreign text taken apart: lines, words, lists. No locale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// ASCII only.
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Takes what stands before the first `separator` off `text`, and the separator, and returns it;
/// all of `text` where there is none.
std::string_view take_until(std::string_view& text, char separator) noexcept;

/// Takes the first line off `text` and returns it, without its line end.
[[nodiscard]] inline std::string_view take_line(std::string_view& text) noexcept {
  return take_until(text, '\n');
}

/// Takes the key off a line such as "KEY: VALUE", leaves the value, both without blanks around
/// them, and returns the key; empty where there is no `separator`.
std::string_view take_key(std::string_view& line, char separator) noexcept;

/// Takes `prefix` off `text`; false where `text` does not start with it.
inline bool take_prefix(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Takes the first word off `text` (blanks before it are skipped) and returns it; empty at the end.
std::string_view take_word(std::string_view& text) noexcept;

/// `text` without the blanks at both its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text,
                                       std::string_view blanks = " \t") noexcept;

/// The items of a list, trimmed, but for empty ones.
[[nodiscard]] std::vector<std::string> items_of(std::string_view list, char separator = ',');

/// With the letters A to Z as small ones.
[[nodiscard]] std::string lower(std::string_view text);
/// With the letters a to z as capitals.
[[nodiscard]] std::string upper(std::string_view text);

}  // namespace wattle
