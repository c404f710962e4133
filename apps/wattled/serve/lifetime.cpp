#include "serve/lifetime.hpp"

#include <algorithm>
#include <array>

#include "base/text/parse.hpp"

namespace wattle::daemon {

std::optional<std::int64_t> parse_lifetime(std::string_view text) {
  if (text == "never" || text == "0") return 0;
  struct TimeUnit {
    std::int64_t seconds;
    std::array<std::string_view, 5> names;
  };
  // As in zeusd: m is a minute, M a month (a twelfth of a year of 365.25 days).
  constexpr std::array kUnits = {TimeUnit{1, {"s", "sec", "secs", "second", "seconds"}},
                                 TimeUnit{60, {"m", "min", "mins", "minute", "minutes"}},
                                 TimeUnit{3600, {"h", "hr", "hrs", "hour", "hours"}},
                                 TimeUnit{86'400, {"d", "day", "days"}},
                                 TimeUnit{604'800, {"w", "week", "weeks"}},
                                 TimeUnit{2'629'800, {"M", "month", "months"}},
                                 TimeUnit{31'557'600, {"y", "yr", "yrs", "year", "years"}}};
  constexpr std::int64_t kLongest = 1000 * std::int64_t{31'557'600};
  std::int64_t sum = 0;
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = parse_unsigned<std::uint32_t>(text.substr(0, digits));
    text.remove_prefix(digits);
    const std::size_t letters = std::min(text.find_first_of(" 0123456789"), text.size());
    const std::string_view name = text.substr(0, letters);
    text.remove_prefix(letters);
    const auto* const unit = std::ranges::find_if(kUnits, [&](const TimeUnit& each) {
      return !name.empty() && std::ranges::find(each.names, name) != each.names.end();
    });
    if (!number || unit == kUnits.end()) return std::nullopt;
    sum += *number * unit->seconds;
    if (sum > kLongest) return std::nullopt;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

}  // namespace wattle::daemon
