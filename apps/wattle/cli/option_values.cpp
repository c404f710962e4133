#include "cli/option_values.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

std::chrono::nanoseconds parse_seconds(const std::string& text, std::string_view option,
                                       double least, double most) {
  const auto seconds = parse_double(text);
  if (!seconds || *seconds < least || *seconds > most) {
    throw InvalidArgument(fmt::format("{} takes a number of seconds from {} to {}, not '{}'",
                                      option, least, most, printable(text)));
  }
  return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
}

std::chrono::nanoseconds parse_interval(const std::string& text, std::string_view option) {
  constexpr double kShortestS = 0.001;
  constexpr double kLongestS = 3600.0;
  return parse_seconds(text, option, kShortestS, kLongestS);
}

}  // namespace wattle::app
