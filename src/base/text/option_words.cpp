#include "base/text/option_words.hpp"

#include "base/text/text.hpp"

namespace wattle {

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
