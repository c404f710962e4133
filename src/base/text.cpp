#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wattle {
namespace {

constexpr bool is_continuation(unsigned char byte) noexcept { return (byte & 0xC0U) == 0x80U; }

/// Length of the well-formed UTF-8 sequence that `text` begins with; 0 if there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(byte(i))) return 0;
  }
  // Overlong forms, surrogates, and code points beyond U+10FFFF.
  const bool ill_formed = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0) ||
                          (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90);
  return ill_formed ? 0 : length;
}

/// C0, DEL, and the C1 controls in their UTF-8 form (U+0080 to U+009F).
bool is_control(std::string_view sequence) noexcept {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead < 0x20 || lead == 0x7F;
  return sequence.size() == 2 && lead == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

/// Where to cut `text`, which is longer, so that at most `max_bytes` are left and no well-formed
/// sequence is taken apart.
std::size_t cut_position(std::string_view text, std::size_t max_bytes) noexcept {
  constexpr std::size_t kMostContinuations = 3;
  std::size_t begin = max_bytes;
  while (begin > 0 && max_bytes - begin < kMostContinuations &&
         is_continuation(static_cast<unsigned char>(text[begin]))) {
    --begin;
  }
  const bool taken_apart = begin + sequence_length(text.substr(begin)) > max_bytes;
  return taken_apart ? begin : max_bytes;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  const bool cut = text.size() > max_bytes;
  if (cut) text = text.substr(0, cut_position(text, max_bytes));
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || is_control(sequence)) {
      for (const char c : sequence) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
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
