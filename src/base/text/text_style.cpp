#include "base/text/text_style.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/text/character_widths.hpp"
#include "base/text/split.hpp"

namespace wattle {
namespace {

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing changes it
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = lower(value);
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

bool wants_colors() noexcept {
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): as above
  const char* term = std::getenv("TERM");          // NOLINT(concurrency-mt-unsafe): as above
  return (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

/// The escape sequence of each `Tint`.
constexpr std::array<std::string_view, 4> kSequences = {"\x1b[1m", "\x1b[2m", "\x1b[32m",
                                                        "\x1b[31m"};

/// The code point of a character in UTF-8, which may be cut off.
std::uint32_t code_point_of(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character.front());
  std::uint32_t code = character.size() == 1 ? first : first & (0xFFU >> (character.size() + 1));
  for (const char byte : character.substr(1)) {
    code = (code << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return code;
}

std::size_t columns_of_character(std::string_view character) noexcept {
  constexpr std::uint32_t kFirstUnusual = 0x300;
  constexpr std::size_t kLongest = 4;
  if (character.size() > kLongest) return 1;  // not UTF-8
  const std::uint32_t code = code_point_of(character);
  if (code < kFirstUnusual) return 1;
  const auto is_in = [code](const auto& ranges) {
    const auto range = std::ranges::lower_bound(ranges, code, {}, &CodeRange::last);
    return range != ranges.end() && range->first <= code;
  };
  if (is_in(kNoWidth)) return 0;
  return is_in(kTwoColumns) ? 2 : 1;
}

/// The character or escape sequence that a text starts with.
struct Glyph {
  std::size_t bytes = 0;
  std::size_t columns = 0;
  bool is_sequence = false;
};

bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

Glyph first_of(std::string_view text) noexcept {
  const bool is_ascii = static_cast<unsigned char>(text.front()) < 0x80U && text.front() != '\x1b';
  if (is_ascii && (text.size() == 1 || !continues_character(text[1]))) return {1, 1, false};
  if (text.starts_with("\x1b[")) {
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    return {end == std::string_view::npos ? text.size() : end + 1, 0, true};
  }
  std::size_t bytes = 1;
  while (bytes < text.size() && continues_character(text[bytes])) ++bytes;
  return {bytes, columns_of_character(text.substr(0, bytes))};
}

std::string_view ascii_of(std::string_view character) noexcept {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kSpellings = {{
      {"°", ""},
      {"±", "+/-"},
      {"≥", ">="},
      {"µ", "u"},
      {"×", "x"},
      {"…", "..."},
      {"▁", "_"},
      {"▂", "."},
      {"▃", ":"},
      {"▄", "-"},
      {"▅", "="},
      {"▆", "+"},
      {"▇", "*"},
      {"█", "#"},
  }};
  for (const auto& [from, to] : kSpellings) {
    if (character == from) return to;
  }
  return character.size() == 1 ? character : "?";
}

/// True for "350.000" and "±0.067", which stay with their units.
bool is_number(std::string_view word) noexcept {
  return word.find_first_of("0123456789") != std::string_view::npos &&
         word.find_first_not_of("0123456789.+-/\xc2\xb1") == std::string_view::npos;
}

/// Bytes of the first part of `text` that stays in one line: a word, or a number with its unit and
/// its uncertainty.
std::size_t unbroken(std::string_view text) noexcept {
  std::size_t end = std::min(text.find(' '), text.size());
  for (std::size_t start = 0; end + 1 < text.size();) {
    const std::size_t next = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(start, end - start);
    const std::string_view following = text.substr(end + 1, next - end - 1);
    const bool is_uncertainty = following.starts_with("±") || following.starts_with("+/-");
    if (following.empty() || (!is_number(word) && !is_uncertainty)) break;
    start = end + 1;
    end = next;
  }
  return end;
}

/// One line without its end. Words go to the next one where they do not fit.
std::string wrap_line(std::string_view line, std::size_t width, std::size_t indent) {
  if (width == 0 || columns_of(line) <= width) return std::string(line);
  std::string text;
  std::size_t column = 0;
  bool has_word = false;  // in this line of the result
  while (!line.empty()) {
    const std::size_t gap = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = gap + unbroken(line.substr(gap));
    const std::string_view word = line.substr(gap, end - gap);
    const std::size_t wide = columns_of(word);
    // A long word takes the room of the space before it.
    const std::size_t room = width - std::min(width, wide);
    if (has_word && wide > 0 && column + gap > room && indent < width) {
      column = std::min(indent, room);
      text += '\n' + std::string(column, ' ');
    } else {
      const std::size_t space = has_word ? gap : std::min(gap, room);
      text.append(space, ' ');
      column += space;
    }
    text += word;
    column += wide;
    has_word = has_word || wide > 0;
    line.remove_prefix(end);
  }
  return text;
}

std::string aligned(std::string_view cell, Align align, std::size_t width) {
  const std::string space(width - std::min(width, columns_of(cell)), ' ');
  return align == Align::left ? std::string(cell) + space : space + std::string(cell);
}

constexpr std::size_t kColumnGap = 2;

}  // namespace

TextStyle style_of(int descriptor) noexcept {
  TextStyle style{.unicode = is_utf8_locale()};
  if (::isatty(descriptor) != 1) return style;
  style.color = wants_colors();
  winsize window{};
  if (::ioctl(descriptor, TIOCGWINSZ, &window) == 0) style.width = window.ws_col;
  return style;
}

std::string colored(std::string_view text, Tint tint, const TextStyle& style) {
  if (!style.color || text.empty()) return std::string(text);
  return std::string(entry_of(kSequences, tint)) + std::string(text) + "\x1b[0m";
}

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Glyph glyph = first_of(text);
    columns += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return columns;
}

std::string cut(std::string_view text, std::size_t width) {
  std::string result;
  std::size_t columns = 0;
  bool is_full = false;
  while (!text.empty()) {
    const Glyph glyph = first_of(text);
    is_full = is_full || (!glyph.is_sequence && columns + glyph.columns > width);
    // Escape sequences after the end too: the last one ends the colour.
    if (glyph.is_sequence || !is_full) result += text.substr(0, glyph.bytes);
    columns += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return result;
}

std::string to_style_characters(std::string_view text, const TextStyle& style) {
  if (style.unicode) return std::string(text);
  std::string ascii;
  while (!text.empty()) {
    const Glyph glyph = first_of(text);
    const std::string_view character = text.substr(0, glyph.bytes);
    ascii += glyph.is_sequence ? character : ascii_of(character);
    text.remove_prefix(glyph.bytes);
  }
  return ascii;
}

std::string wrapped(std::string_view text, const TextStyle& style, std::size_t indent) {
  const std::string whole = to_style_characters(text, style);
  std::string_view rest = whole;
  std::string result;
  while (!rest.empty()) {
    const bool is_last = rest.find('\n') == std::string_view::npos;
    const std::string_view line = take_line(rest);
    const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
    result += wrap_line(line, style.width, indent == 0 ? own + 2 : indent);
    if (!is_last) result += '\n';
  }
  return result;
}

TextTable::TextTable(std::vector<Align> columns, TextStyle style, std::size_t indent)
    : columns_(std::move(columns)), style_(style), indent_(indent) {}

void TextTable::add(const std::vector<std::string>& cells, bool is_dim) {
  TextRow row{.cells = {}, .is_dim = is_dim};
  for (const std::string& cell : cells) row.cells.push_back(to_style_characters(cell, style_));
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const TextRow& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row.cells[i]));
    }
  }
  std::string text;
  for (const TextRow& row : rows_) {
    std::string line(indent_, ' ');
    std::size_t last = line.size();  // where the last cell starts
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i > 0) line.append(kColumnGap, ' ');
      last = columns_of(line);
      // The last column is left as it is: it can be long.
      const bool is_last = i + 1 == columns_.size() && columns_[i] == Align::left;
      line += is_last ? row.cells[i] : aligned(row.cells[i], columns_[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    const bool has_room = style_.width > last + last / 2;
    const std::size_t below = indent_ + kColumnGap;
    if (has_room || style_.width == 0 || columns_of(line) <= style_.width ||
        row.cells.size() != columns_.size()) {
      line = wrap_line(line, style_.width, has_room ? last : below);
    } else {
      const std::string remark = std::string(below, ' ') + row.cells.back();
      line.resize(line.size() - row.cells.back().size());
      line.erase(line.find_last_not_of(' ') + 1);
      line += '\n' + wrap_line(remark, style_.width, below + kColumnGap);
    }
    text += (row.is_dim ? colored(line, Tint::dim, style_) : line) + '\n';
  }
  return text;
}

}  // namespace wattle
