#include "terminal_screen.hpp"

#include <algorithm>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::integration {

TerminalScreen::TerminalScreen(std::size_t columns, std::size_t lines)
    : columns_(columns), cells_(lines) {
  clear();
}

void TerminalScreen::clear() {
  for (auto& line : cells_) line.assign(columns_, " ");
}

std::size_t TerminalScreen::sequence(std::string_view bytes) {
  const std::size_t end = bytes.find_first_not_of("0123456789;?", 2);
  if (end == std::string_view::npos) return bytes.size();
  std::string_view numbers = bytes.substr(2, end - 2);
  switch (bytes[end]) {
    case 'H': {
      const auto number = [&] {
        return parse_unsigned<std::size_t>(take_until(numbers, ';')).value_or(1) - 1;
      };
      line_ = number();
      column_ = number();
      break;
    }
    case 'J':
      clear();
      break;
    case 'K':
      if (line_ < cells_.size() && column_ < columns_) {
        std::fill(cells_[line_].begin() + static_cast<std::ptrdiff_t>(column_), cells_[line_].end(),
                  " ");
      }
      break;
    default:
      break;
  }
  return end + 1;
}

void TerminalScreen::put(std::string_view character) {
  if (character == "\r") {
    column_ = 0;
  } else if (character == "\n") {
    ++line_;
  } else {
    if (line_ < cells_.size() && column_ < columns_) cells_[line_][column_] = character;
    ++column_;
  }
}

void TerminalScreen::take(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t size = 1;
    if (bytes.starts_with("\x1b[")) {
      size = sequence(bytes);
    } else {
      while (size < bytes.size() && (static_cast<unsigned char>(bytes[size]) & 0xC0U) == 0x80U) {
        ++size;
      }
      put(bytes.substr(0, size));
    }
    bytes.remove_prefix(size);
  }
}

std::string TerminalScreen::text() const {
  std::string text;
  for (const auto& cells : cells_) {
    std::string line;
    for (const std::string& cell : cells) line += cell;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace wattle::integration
