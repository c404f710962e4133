#include "report/html/page_words.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

namespace wattle::html {

std::string utc_text(double unix_s) {
  namespace chrono = std::chrono;
  constexpr double kYear9999 = 253'402'300'799.0;
  if (!(unix_s >= 0.0) || unix_s > kYear9999) return {};
  const chrono::sys_seconds time{chrono::seconds(std::llround(std::floor(unix_s)))};
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string subtitle_of(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : " · ", part);
  }
  return text;
}

Estimates estimates_of(std::vector<std::string> lines) {
  for (std::string& line : lines) line.erase(0, line.find_first_not_of(' '));
  return {std::move(lines)};
}

}  // namespace wattle::html
