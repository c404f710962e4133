#include "base/text/printable_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text/text.hpp"
#include "base/text/utf8.hpp"

namespace wattle {
namespace {

/// Those of `colored`.
constexpr std::array<std::string_view, 5> kColors = {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m",
                                                     "\x1b[32m"};

/// Bytes at the start of `text` that may be written as they are; 0: its first character may not.
std::size_t safe_bytes(std::string_view text, Colors colors) noexcept {
  const char first = text.front();
  if (first == '\n' || first == '\t') return 1;
  if (first == '\x1b' && colors == Colors::own) {
    const auto* const color = std::ranges::find_if(
        kColors, [&](std::string_view sequence) { return text.starts_with(sequence); });
    return color == kColors.end() ? 0 : color->size();
  }
  const auto [bytes, is_safe] = first_character(text);
  return is_safe ? bytes.size() : 0;
}

/// Bytes at the start of `text` that are safe together.
std::size_t safe_start(std::string_view text, Colors colors) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t bytes = safe_bytes(text.substr(end), colors);
    if (bytes == 0) break;
    end += bytes;
  }
  return end;
}

void append_escaped(std::string& out, std::string_view character, bool is_json) {
  if (is_json && sequence_length(character) > 0) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}",
                   static_cast<std::uint32_t>(code_point(character)));
    return;
  }
  if (is_json) {
    out += "\\ufffd";
    return;
  }
  out += printable(character);
}

std::string escaped_where_unsafe(std::string_view text, Colors colors, bool is_json) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t safe = safe_start(text, colors);
    out += text.substr(0, safe);
    text.remove_prefix(safe);
    if (text.empty()) break;
    const std::string_view unsafe = first_character(text).bytes;
    append_escaped(out, unsafe, is_json);
    text.remove_prefix(unsafe.size());
  }
  return out;
}

}  // namespace

PrintableText::PrintableText(std::string_view foreign)
    : std::string(printable(foreign, std::string_view::npos)) {}

void take(const nlohmann::ordered_json& json, PrintableText& into) {
  if (json.is_string()) into = PrintableText(json.get_ref<const std::string&>());
}

void take(const nlohmann::ordered_json& json, std::vector<PrintableText>& into) {
  if (!json.is_array()) return;
  for (const nlohmann::ordered_json& word : json) {
    if (word.is_string()) into.emplace_back(word.get_ref<const std::string&>());
  }
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than `parse_json` reads
void make_printable(nlohmann::ordered_json& json) {
  if (json.is_string()) {
    auto& text = json.get_ref<std::string&>();
    text = PrintableText(text);
  }
  if (!json.is_structured()) return;
  for (nlohmann::ordered_json& value : json) make_printable(value);
}

bool is_safe_output(std::string_view text, Colors colors) noexcept {
  return safe_start(text, colors) == text.size();
}

std::string safe_output(std::string_view text, Colors colors) {
  return escaped_where_unsafe(text, colors, text.starts_with('{') || text.starts_with('['));
}

std::string safe_json(std::string text) {
  return is_safe_output(text, Colors::none) ? std::move(text)
                                            : escaped_where_unsafe(text, Colors::none, true);
}

}  // namespace wattle
