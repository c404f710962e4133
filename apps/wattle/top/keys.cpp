#include "top/keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle::app {
namespace {

constexpr char kEscapeByte = '\x1b';

/// The key at the start of some bytes: 0 bytes where more must come first.
struct ParsedKey {
  std::size_t bytes = 0;
  std::optional<Key> key{};
};

/// The last characters of sequences "ESC [ A" and "ESC O A".
constexpr std::array<std::pair<char, KeyKind>, 4> kFinals = {
    {{'A', KeyKind::up}, {'B', KeyKind::down}, {'H', KeyKind::home}, {'F', KeyKind::end}}};
/// The numbers of sequences "ESC [ N ~".
constexpr std::array<std::pair<std::string_view, KeyKind>, 6> kNumbered = {
    {{"1", KeyKind::home},
     {"4", KeyKind::end},
     {"5", KeyKind::page_up},
     {"6", KeyKind::page_down},
     {"7", KeyKind::home},
     {"8", KeyKind::end}}};

std::optional<Key> key_of_final(char final) {
  for (const auto& [byte, kind] : kFinals) {
    if (byte == final) return Key{.kind = kind};
  }
  return std::nullopt;
}

/// A press of a button, from the numbers of a mouse report, which count from 1.
std::optional<Key> mouse_key(unsigned button, std::size_t column, std::size_t line) {
  constexpr unsigned kModifiers = 4U | 8U | 16U;
  constexpr unsigned kWheelUp = 64;
  if (column == 0 || line == 0) return std::nullopt;
  Key key{.column = column - 1, .line = line - 1};
  switch (button & ~kModifiers) {
    case 0:
      key.kind = KeyKind::click;
      return key;
    case kWheelUp:
      key.kind = KeyKind::wheel_up;
      return key;
    case kWheelUp + 1:
      key.kind = KeyKind::wheel_down;
      return key;
    default:
      return std::nullopt;
  }
}

/// "<0;12;5" and "M": an SGR mouse report.
std::optional<Key> sgr_mouse_key(std::string_view parameters, char final) {
  if (final != 'M' || !take_prefix(parameters, "<")) return std::nullopt;
  const auto button = parse_unsigned<unsigned>(take_until(parameters, ';'));
  const auto column = parse_unsigned<unsigned>(take_until(parameters, ';'));
  const auto line = parse_unsigned<unsigned>(parameters);
  if (!button || !column || !line) return std::nullopt;
  return mouse_key(*button, *column, *line);
}

std::optional<Key> key_of_sequence(std::string_view parameters, char final) {
  if (parameters.starts_with('<')) return sgr_mouse_key(parameters, final);
  if (final == '~') {
    const std::string_view number = take_until(parameters, ';');
    for (const auto& [digits, kind] : kNumbered) {
      if (number == digits) return Key{.kind = kind};
    }
    return std::nullopt;
  }
  return key_of_final(final);
}

/// "ESC [ ...": parameters, then a final byte.
ParsedKey control_sequence(std::string_view bytes) {
  constexpr std::size_t kStart = 2;
  if (bytes.size() > kStart && bytes[kStart] == 'M') {  // X10: three bytes follow
    constexpr std::size_t kLength = 6;
    constexpr unsigned kOffset = 32;
    if (bytes.size() < kLength) return {};
    const auto number = [&](std::size_t place) {
      const auto byte = static_cast<unsigned char>(bytes[place]);
      return byte < kOffset ? 0U : byte - kOffset;
    };
    return {kLength, mouse_key(number(3), number(4), number(5))};
  }
  std::size_t end = kStart;
  while (end < bytes.size() && bytes[end] >= 0x20 && bytes[end] < 0x40) ++end;
  if (end == bytes.size()) return {};
  if (bytes[end] < 0x40 || bytes[end] == 0x7f) return {end, std::nullopt};  // no final byte
  return {end + 1, key_of_sequence(bytes.substr(kStart, end - kStart), bytes[end])};
}

/// A reply of the terminal, "ESC ] ..." or "ESC P ...", up to BEL or "ESC \": it is no key.
ParsedKey reply_step(std::string_view bytes) {
  const std::size_t end = bytes.find_first_of("\a\x1b", 2);
  if (end == std::string_view::npos) return {};
  if (bytes[end] == '\a') return {end + 1, std::nullopt};
  if (end + 1 == bytes.size()) return {};
  return {bytes[end + 1] == '\\' ? end + 2 : end, std::nullopt};
}

ParsedKey escape_sequence(std::string_view bytes) {
  if (bytes.size() < 2) return {};
  switch (bytes[1]) {
    case '[':
      return control_sequence(bytes);
    case 'O':
      return bytes.size() < 3 ? ParsedKey{} : ParsedKey{3, key_of_final(bytes[2])};
    case ']':
    case 'P':
      return reply_step(bytes);
    case kEscapeByte:
      return {1, Key{.kind = KeyKind::escape}};
    default:
      return {2, std::nullopt};  // Alt and a character
  }
}

/// Bytes of the character that starts with this byte; 0 for none.
std::size_t utf8_length(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

ParsedKey character_step(std::string_view bytes) {
  const std::size_t length = utf8_length(static_cast<unsigned char>(bytes.front()));
  if (length == 0) return {1, std::nullopt};
  for (std::size_t i = 1; i < std::min(length, bytes.size()); ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0xC0U) != 0x80U) return {i, std::nullopt};
  }
  if (bytes.size() < length) return {};
  std::string text(bytes.substr(0, length));
  // Control characters, and what is not well-formed, are no characters to type.
  if (printable(text) != text) return {length, std::nullopt};
  return {length, Key{.text = std::move(text)}};
}

ParsedKey first_step(std::string_view bytes) {
  switch (bytes.front()) {
    case kEscapeByte:
      return escape_sequence(bytes);
    case '\r':
    case '\n':
      return {1, Key{.kind = KeyKind::enter}};
    case '\x7f':
    case '\b':
      return {1, Key{.kind = KeyKind::backspace}};
    case '\x03':
    case '\x04':
      return {1, Key{.kind = KeyKind::interrupt}};
    case '\x0c':
      return {1, Key{.kind = KeyKind::refresh}};
    default:
      return character_step(bytes);
  }
}

}  // namespace

std::vector<Key> KeyDecoder::take(std::string_view bytes, TimePoint now) {
  std::vector<Key> keys;
  pending_ += bytes;
  last_ = now;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    ParsedKey step = first_step(rest);
    if (step.bytes == 0) break;
    if (step.key) keys.push_back(std::move(*step.key));
    rest.remove_prefix(step.bytes);
  }
  // No sequence of a terminal is that long.
  if (rest.size() > kMostPending) rest = {};
  pending_ = std::string(rest);
  return keys;
}

int KeyDecoder::wait_ms(TimePoint now) const noexcept {
  if (pending_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(last_ + kPatience - now);
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kPatience.count()));
}

std::optional<Key> KeyDecoder::end_sequence(TimePoint now) {
  if (now - last_ < kPatience) return std::nullopt;
  const bool is_escape = pending_.size() == 1 && pending_.front() == kEscapeByte;
  pending_.clear();
  return is_escape ? std::optional(Key{.kind = KeyKind::escape}) : std::nullopt;
}

}  // namespace wattle::app
