#include "base/text/split.hpp"

#include <algorithm>

namespace wattle {

std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::string_view take_key(std::string_view& line, char separator) noexcept {
  if (line.find(separator) == std::string_view::npos) return {};
  const std::string_view key = trimmed(take_until(line, separator));
  line = trimmed(line);
  return key;
}

std::string_view take_word(std::string_view& text) noexcept {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string> items_of(std::string_view list, char separator) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::string_view item = trimmed(take_until(list, separator));
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

std::string upper(std::string_view text) {
  std::string raised(text);
  for (char& c : raised) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return raised;
}

}  // namespace wattle
