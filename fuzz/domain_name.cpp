// Names of domains that somebody types, and labels of chips that become part of one.
#include <optional>
#include <string>

#include "check.hpp"
#include "sensors/domain_traits.hpp"
#include "sensors/hwmon/chip.hpp"
#include "wattle/domain.hpp"
#include "wattle/error.hpp"

FUZZ_TARGET(domain_name)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const Domain domain = Domain::parse(text);
    fuzz::require(domain.name() == text, "parsing is the inverse of the name");
    fuzz::require(kind_of_name(text) == domain.kind(), "a name tells its kind");
  } catch (const InvalidArgument&) {
    // No name.
  }
  const std::string word = hwmon::word_of(text);
  fuzz::require(word.size() <= hwmon::kLongestWord, "a word is short");
  fuzz::require(hwmon::word_of(word) == word, "a word stays as it is");
  if (!word.empty()) (void)Domain::custom("hwmon", word);
  (void)hwmon::parse_attribute(text);
  return 0;
}
