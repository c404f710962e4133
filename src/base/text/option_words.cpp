#include "base/text/option_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text/text.hpp"

namespace wattle {
namespace {

/// Longer ones are not typed.
constexpr std::size_t kLongest = 64;

/// The steps from one word to the other: the "optimal string alignment" distance.
std::size_t steps(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::vector<std::size_t> row(to.size() + 1, i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const bool differs = from[i - 1] != to[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (differs ? 1 : 0)});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, std::move(row));
  }
  return last[to.size()];
}

/// The only word that starts with `word`, if that is not just its first letters.
std::string_view only_one_that_begins(std::string_view word,
                                      const std::vector<std::string>& words) {
  constexpr std::size_t kTelling = 3;
  if (word.size() - std::min(word.find_first_not_of('-'), word.size()) < kTelling) return {};
  const auto begins = [&](const std::string& other) { return other.starts_with(word); };
  if (std::ranges::count_if(words, begins) != 1) return {};
  return *std::ranges::find_if(words, begins);
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string>& words) {
  if (word.size() > kLongest) return {};
  std::string_view best = only_one_that_begins(word, words);
  if (!best.empty()) return best;
  const std::size_t most = word.size() < 2 ? 0 : std::max<std::size_t>(word.size() / 3, 1);
  std::size_t fewest = most + 1;
  for (const std::string& other : words) {
    if (other.size() > kLongest) continue;
    const std::size_t needed = steps(word, other);
    if (needed >= fewest || needed >= other.size()) continue;
    fewest = needed;
    best = other;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
  const std::string_view meant = nearest(word, words);
  return meant.empty() ? std::string() : fmt::format("; did you mean {}?", meant);
}

std::string unknown_word(std::string_view option, const std::vector<std::string_view>& words,
                         std::string_view given) {
  std::string message = std::string(option) + " takes ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    if (i > 0) message += is_last ? " or " : ", ";
    message += words[i];
  }
  return message + ", not '" + printable(given) + "'";
}

std::string option_message(std::string_view message) {
  constexpr std::string_view kBefore = ": 1 required ";
  constexpr std::string_view kAfter = " missing";
  const std::size_t before = message.find(kBefore);
  if (before == std::string_view::npos || !message.ends_with(kAfter)) return printable(message);
  std::string_view type = message.substr(before + kBefore.size());
  type.remove_suffix(kAfter.size());
  return printable(std::string(message.substr(0, before)) + " needs a value: " + std::string(type));
}

}  // namespace wattle
