// UTF-8, and which of its characters a terminal or a page must not get.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace wattle {

[[nodiscard]] constexpr bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Length of the well-formed UTF-8 sequence that `text` starts with; 0 if there is none. `text` is
/// not empty.
[[nodiscard]] constexpr std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  // Overlong forms, surrogates, and code points beyond U+10FFFF.
  const bool ill_formed = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0) ||
                          (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90);
  return ill_formed ? 0 : length;
}

/// The code point of a well-formed sequence.
[[nodiscard]] constexpr char32_t code_point(std::string_view sequence) noexcept {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  char32_t code = lead & (0x7FU >> sequence.size());
  for (const char byte : sequence.substr(1))
    code = code << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
  return code;
}

/// True for what moves a terminal's cursor, breaks a line, or changes the order in which text is
/// shown: C0, DEL, C1, line and paragraph separators, marks of writing direction.
[[nodiscard]] constexpr bool is_unsafe(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// The first character of a text: its well-formed sequence, or one byte that is none.
struct FirstCharacter {
  std::string_view bytes;
  bool is_safe;  ///< well-formed, and not `is_unsafe`
};
[[nodiscard]] constexpr FirstCharacter first_character(std::string_view text) noexcept {
  const std::size_t length = sequence_length(text);
  const std::string_view bytes = text.substr(0, std::max<std::size_t>(length, 1));
  return {bytes, length > 0 && !is_unsafe(code_point(bytes))};
}

}  // namespace wattle
