#include "base/text/parse.hpp"

#include <cmath>

namespace wattle {

std::optional<std::uint64_t> parse_counter(std::string_view text) noexcept {
  return parse_unsigned<std::uint64_t>(trimmed(text, " \t\n\r"));
}

std::optional<double> parse_double(std::string_view text) noexcept {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace wattle
