#include "run_monitor/time_text.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "base/split.hpp"

namespace wattle {
namespace {

std::chrono::milliseconds whole_milliseconds(double unix_s) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::floor(unix_s * 1e3)));
}

}  // namespace

std::string utc_text(double unix_s) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::milliseconds> time(whole_milliseconds(unix_s));
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}+00:00",
                     static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::optional<std::int64_t> parse_utc_ms(std::string_view text) noexcept {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.ddd+00:00";
  if (text.size() != kForm.size()) return std::nullopt;
  std::array<int, 7> numbers{};  // year, month, day, hour, minute, second, millisecond
  std::size_t number = 0;
  for (std::size_t i = 0; i < kForm.size() - 6; ++i) {
    if (kForm[i] != 'd') {
      if (text[i] != kForm[i]) return std::nullopt;
      ++number;
    } else if (is_digit(text[i])) {
      numbers.at(number) = numbers.at(number) * 10 + (text[i] - '0');
    } else {
      return std::nullopt;
    }
  }
  if (!text.ends_with("+00:00")) return std::nullopt;
  const auto [year, month, day, hour, minute, second, millisecond] = numbers;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const auto time = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hour) +
                    std::chrono::minutes(minute) + std::chrono::seconds(second) +
                    std::chrono::milliseconds(millisecond);
  return std::chrono::milliseconds(time).count();
}

std::string local_text(double unix_s) {
  const std::chrono::milliseconds time = whole_milliseconds(unix_s);
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t whole = second.count();
  std::tm local{};
  (void)::localtime_r(&whole, &local);
  constexpr int kFirstYear = 1900;
  return fmt::format("{:04}/{:02}/{:02} {:02}:{:02}:{:02}.{:03}", local.tm_year + kFirstYear,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     (time - second).count());
}

}  // namespace wattle
