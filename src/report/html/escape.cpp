#include "report/html/escape.hpp"

#include "base/text/text.hpp"

namespace wattle::html {

std::string escaped(std::string_view text, std::size_t most_bytes) {
  const std::string shown = printable(text, most_bytes);
  std::string out;
  out.reserve(shown.size());
  for (const char c : shown) {
    switch (c) {
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
