#include "base/text/facts_text.hpp"

#include <algorithm>

#include "base/text/split.hpp"

namespace wattle {

std::string facts_text(const std::vector<std::pair<std::string, std::string>>& facts,
                       const TextStyle& style) {
  constexpr std::size_t kLeast = 12;
  constexpr std::size_t kSpace = 2;
  std::size_t widest = kLeast;
  for (const auto& [label, text] : facts) {
    widest = std::max(widest, columns_of(to_style_characters(label, style)));
  }
  std::string lines;
  for (const auto& [label, text] : facts) {
    const std::string shown = to_style_characters(label, style);
    std::string line = shown;
    line.append(widest + kSpace - columns_of(shown), ' ');
    line += text;
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    lines += wrapped(line, style, widest + kSpace);
  }
  return lines;
}

std::string labelled_lines(std::string_view text, const TextStyle& style) {
  constexpr std::size_t kLeast = 18;
  constexpr std::size_t kMost = 40;
  constexpr std::size_t kIndent = 2;
  const auto label_of = [&](std::string_view line) {
    return to_style_characters(line.substr(0, line.find('\t')), style);
  };
  std::size_t widest = kLeast;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (line.find('\t') == std::string_view::npos) continue;
    const std::size_t width = columns_of(label_of(line));
    if (width <= kMost) widest = std::max(widest, width);
  }
  std::string lines;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t tab = line.find('\t');
    std::string shown = label_of(line);
    if (tab != std::string_view::npos) {
      shown.append(widest - std::min(widest, columns_of(shown)) + 1, ' ');
      shown += line.substr(tab + 1);
    }
    lines += wrapped(shown + "\n", style, widest + 1 + kIndent);
  }
  return lines;
}

}  // namespace wattle
