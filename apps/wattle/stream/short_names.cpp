#include "stream/short_names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text/text_style.hpp"

namespace wattle::app {
namespace {

/// The last columns of `text`.
std::string_view tail(std::string_view text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  return text.substr(cut(text, columns - std::min(columns, width)).size());
}

/// How many columns all names start with alike that are wider than `width`.
std::size_t common_columns(const std::vector<std::string>& names, std::size_t width) {
  std::optional<std::string_view> common;
  for (const std::string& name : names) {
    if (columns_of(name) <= width) continue;
    if (!common) common = name;
    const char* const end = std::ranges::mismatch(*common, name).in1;
    common = common->substr(0, static_cast<std::size_t>(end - common->data()));
  }
  return columns_of(common.value_or(""));
}

/// Shows `front` columns of the name from column `from` on, and its end in the rest.
std::string shortened(std::string_view name, std::size_t from, std::size_t front, std::size_t width,
                      std::string_view mark) {
  const std::size_t columns = columns_of(name);
  if (columns <= width) return std::string(name);
  std::string text;
  if (from > 0) {
    name = tail(name, columns - std::min(columns, from));
    text = mark;
    if (columns_of(text) + columns_of(name) <= width) return text += name;
  }
  text += cut(name, front);
  text += mark;
  const std::size_t used = columns_of(text);
  text += tail(name, width - std::min(width, used));
  return cut(text, width);
}

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width,
                                     std::string_view mark) {
  if (names.empty()) return {};
  const std::size_t marked = columns_of(mark);
  const std::size_t room = width - std::min(width, marked);
  const std::size_t alike = common_columns(names, width);
  const std::size_t half = room / 2;
  struct Way {
    std::size_t from;
    std::size_t front;
  };
  // In the middle, at the front, at the end, and so that the first difference is seen.
  const std::array ways = {Way{0, half}, Way{0, 0}, Way{0, room},
                           Way{alike, room - std::min(room, marked)}};
  std::vector<std::string> best;
  std::size_t most = 0;
  for (const auto& [from, front] : ways) {
    std::vector<std::string> tried;
    tried.reserve(names.size());
    for (const std::string& name : names) {
      tried.push_back(shortened(name, from, front, width, mark));
    }
    const std::size_t different = std::set(tried.begin(), tried.end()).size();
    if (different > most) best = std::move(tried);
    most = std::max(most, different);
  }
  return best;
}

}  // namespace wattle::app
