#include "base/facts_text.hpp"

#include <algorithm>

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

}  // namespace wattle
