#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/utf8.hpp"

namespace wattle {
namespace {

/// Where to cut `text`, which is longer, so that at most `max_bytes` are left and no well-formed
/// sequence is taken apart.
std::size_t cut_position(std::string_view text, std::size_t max_bytes) noexcept {
  constexpr std::size_t kMostContinuations = 3;
  std::size_t begin = max_bytes;
  while (begin > 0 && max_bytes - begin < kMostContinuations && is_continuation(text[begin])) {
    --begin;
  }
  const bool taken_apart = begin + sequence_length(text.substr(begin)) > max_bytes;
  return taken_apart ? begin : max_bytes;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  constexpr char32_t kLastControl = 0x9F;
  std::string out;
  const bool cut = text.size() > max_bytes;
  if (cut) text = text.substr(0, cut_position(text, max_bytes));
  while (!text.empty()) {
    const auto [character, is_safe] = first_character(text);
    if (is_safe) {
      out += character;
    } else if (character.size() > 1 && code_point(character) > kLastControl) {
      out += fmt::format("\\u{{{:04x}}}", static_cast<std::uint32_t>(code_point(character)));
    } else {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(character.size());
  }
  if (cut) out += "...";
  return out;
}

std::string valid_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::uint64_t hash_of(std::string_view text) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

std::string csv_cell(std::string_view text, char separator) {
  const bool is_plain = text.find_first_of("\"\r\n") == std::string_view::npos;
  if (is_plain && text.find(separator) == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted + '"';
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return printable(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1);
  }
  return printable(quoted + "'");
}

std::string shell_line(const std::vector<std::string>& words) {
  return joined(words, " ", shell_quoted);
}

}  // namespace wattle
