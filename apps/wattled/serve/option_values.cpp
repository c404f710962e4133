#include "serve/option_values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {

[[noreturn]] void refuse_value(std::string_view option, std::string_view takes,
                               std::string_view given) {
  throw InvalidArgument(fmt::format("{} takes {}, not '{}'", option, takes, printable(given)));
}

mode_t permissions_of(const std::string& text) {
  constexpr unsigned kAll = 0777;
  unsigned mode = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, mode, 8);
  if (error != std::errc{} || stopped != end || mode > kAll) {
    refuse_value("--socket-permissions", "a file mode in octal, such as 660", text);
  }
  return static_cast<mode_t>(mode);
}

std::chrono::milliseconds public_period_of(const std::string& text) {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 3600.0;
  const auto seconds = parse_double(text);
  const bool is_period = seconds && *seconds >= kShortestS && *seconds <= kLongestS;
  if (!is_period && seconds != 0.0) {
    refuse_value("--public-cpu-period", "a number of seconds from 0.01 to 3600, or 0 for no limit",
                 text);
  }
  return std::chrono::milliseconds(std::llround(*seconds * 1000.0));
}

std::chrono::seconds history_length(std::uint32_t seconds, bool is_given, bool is_on_disk) {
  constexpr std::chrono::seconds kOnDisk = std::chrono::hours(48);
  if (is_on_disk && !is_given) return kOnDisk;
  if (is_on_disk && seconds == 0) {
    throw InvalidArgument("--history-dir keeps nothing with --history 0");
  }
  return std::chrono::seconds(seconds);
}

}  // namespace wattle::daemon
