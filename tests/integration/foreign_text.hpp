// Text that a terminal must not get as it is, and a look at what it gets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace wattle::integration {

/// After each text: escape sequences in 7 and 8 bits, a carriage return, a line end, DEL, marks of
/// writing direction, a line separator.
inline constexpr std::string_view kEvil =
    " \x1b[2J\x1b]0;evil\x07\u009B31m\r\nEVIL\x7f\u202Elive\u2066\u200F\u2028";

/// What a terminal must not get, as a text for the failure; empty where there is nothing of it.
inline std::string evil_in(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto around = [&] {
      return std::string(text.substr(i - std::min<std::size_t>(i, 60), 80));
    };
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F)
      return "control: " + around();
    const std::string_view rest = text.substr(i);
    if (byte == 0xC2 && rest.size() > 1 && static_cast<unsigned char>(rest[1]) < 0xA0) {
      return "C1: " + around();
    }
    for (const std::string_view mark : {"\u202E", "\u2066", "\u200F", "\u2028"}) {
      if (rest.starts_with(mark)) return "direction: " + around();
    }
    if (rest.starts_with("\nEVIL")) return "line: " + around();
  }
  return {};
}

}  // namespace wattle::integration
