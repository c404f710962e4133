#include "report/html/escape.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace wattle::html {
namespace {

/// The code point of a character of writing direction at the start of well-formed `text`; else 0.
/// U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
unsigned direction_at(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() >= 2 && byte(0) == 0xD8 && byte(1) == 0x9C) return 0x061C;
  if (text.size() < 3 || byte(0) != 0xE2) return 0;
  const unsigned low = byte(2) & 0x3FU;
  const unsigned code = 0x2000U + ((byte(1) & 0x3FU) << 6U) + low;
  const bool turns = code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  return turns ? code : 0;
}

}  // namespace

std::string escaped(std::string_view text, std::size_t most_bytes) {
  const std::string shown = printable(text, most_bytes);
  std::string out;
  out.reserve(shown.size());
  for (std::size_t i = 0; i < shown.size();) {
    const unsigned direction = direction_at(std::string_view(shown).substr(i));
    if (direction != 0) {
      out += fmt::format("\\u{{{:04x}}}", direction);
      i += direction < 0x800 ? 2 : 3;
      continue;
    }
    switch (const char c = shown[i++]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace wattle::html
