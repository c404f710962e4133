#include "hardware/time_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>

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
