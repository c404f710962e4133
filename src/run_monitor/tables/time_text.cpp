#include "run_monitor/tables/time_text.hpp"

#include <fmt/chrono.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "base/text/split.hpp"

namespace wattle {
namespace {

/// A time since 1970 as whole seconds and the milliseconds after them.
struct WholeTime {
  std::time_t seconds;
  std::int64_t milliseconds;
};

WholeTime whole_time(double unix_s) {
  const std::chrono::milliseconds time(static_cast<std::int64_t>(std::floor(unix_s * 1e3)));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.seconds = seconds.count(), .milliseconds = (time - seconds).count()};
}

/// The digits of `text` from `at` on, which are `count`; absent where another character is there.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) noexcept {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/// "2026-11-21T01:50:09.123" in milliseconds since 1970, where `separators` ("--T::.") are between
/// the numbers; absent for any other text.
std::optional<std::int64_t> parse_ms(std::string_view text, std::string_view separators) noexcept {
  constexpr std::size_t kLength = 23;
  if (text.size() != kLength) return std::nullopt;
  for (std::size_t i = 0; i < separators.size(); ++i) {
    if (text[4 + 3 * i] != separators[i]) return std::nullopt;
  }
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  const auto millisecond = digits(text, 20, 3);
  if (!year || !month || !day || !hour || !minute || !second || !millisecond) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const auto time = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(*hour) +
                    std::chrono::minutes(*minute) + std::chrono::seconds(*second) +
                    std::chrono::milliseconds(*millisecond);
  return std::chrono::milliseconds(time).count();
}

}  // namespace

std::string utc_text(double unix_s) {
  const WholeTime time = whole_time(unix_s);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}+00:00", fmt::gmtime(time.seconds),
                     time.milliseconds);
}

std::optional<std::int64_t> parse_utc_ms(std::string_view text) noexcept {
  constexpr std::string_view kZone = "+00:00";
  if (!text.ends_with(kZone)) return std::nullopt;
  return parse_ms(text.substr(0, text.size() - kZone.size()), "--T::.");
}

std::string local_text(double unix_s) {
  const WholeTime time = whole_time(unix_s);
  return fmt::format("{:%Y/%m/%d %H:%M:%S}.{:03}", fmt::localtime(time.seconds), time.milliseconds);
}

std::optional<std::int64_t> parse_local_ms(std::string_view text) noexcept {
  return parse_ms(text, "// ::.");
}

}  // namespace wattle
