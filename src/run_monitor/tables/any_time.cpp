#include "run_monitor/tables/any_time.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "run_monitor/tables/time_text.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kMsPerSecond = 1000;

/// Digits at the start of a text, taken off it.
struct Number {
  std::int64_t value = 0;
  std::size_t digits = 0;
};

std::optional<Number> take_number(std::string_view& text, std::size_t most_digits) noexcept {
  Number number;
  while (number.digits < text.size() && is_digit(text[number.digits])) {
    if (number.digits == most_digits) return std::nullopt;
    number.value = number.value * 10 + (text[number.digits++] - '0');
  }
  if (number.digits == 0) return std::nullopt;
  text.remove_prefix(number.digits);
  return number;
}

bool take(std::string_view& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// ".123" or ",123456": whole milliseconds; 0 where there is none. Absent where no digit follows.
std::optional<std::int64_t> take_fraction_ms(std::string_view& text) noexcept {
  if (!take(text, '.') && !take(text, ',')) return 0;
  constexpr std::size_t kMostDigits = 9;
  const auto fraction = take_number(text, kMostDigits);
  if (!fraction) return std::nullopt;
  std::int64_t ms = fraction->value;
  for (std::size_t i = fraction->digits; i < 3; ++i) ms *= 10;
  for (std::size_t i = fraction->digits; i > 3; --i) ms /= 10;
  return ms;
}

struct Date {
  std::int64_t year = 0;
  std::int64_t month = 0;
  std::int64_t day = 0;
};

/// As in "Mar", "March": 1 to 12.
std::optional<std::int64_t> take_month(std::string_view& text) noexcept {
  constexpr std::array<std::string_view, 12> kMonths = {
      "January", "February", "March",     "April",   "May",      "June",
      "July",    "August",   "September", "October", "November", "December"};
  const auto end =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin());
  const std::string_view word = text.substr(0, end);
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (word != kMonths[i] && word != kMonths[i].substr(0, 3)) continue;
    text.remove_prefix(end);
    return static_cast<std::int64_t>(i) + 1;
  }
  return std::nullopt;
}

/// "Mon ", "Monday, ": removes it.
void skip_weekday(std::string_view& text) noexcept {
  constexpr std::array<std::string_view, 7> kDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                     "Friday", "Saturday", "Sunday"};
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  const std::string_view day = word.ends_with(',') ? word.substr(0, word.size() - 1) : word;
  for (const std::string_view known : kDays) {
    if (day == known || day == known.substr(0, 3)) text = trimmed(rest);
  }
}

/// A date from two numbers in front of a year. Absent where both may be the month.
std::optional<Date> in_order(std::int64_t first, std::int64_t second, std::int64_t year) noexcept {
  constexpr std::int64_t kMonths = 12;
  if (first == second) return Date{.year = year, .month = first, .day = second};
  if (first > kMonths) return Date{.year = year, .month = second, .day = first};
  if (second > kMonths) return Date{.year = year, .month = first, .day = second};
  return std::nullopt;
}

/// "2 Mar 2026", "02-Mar-2026": after the day.
std::optional<Date> take_named(std::int64_t day, std::string_view& text) noexcept {
  if (!take(text, ' ') && !take(text, '-')) return std::nullopt;
  const auto month = take_month(text);
  if (!month || (!take(text, ' ') && !take(text, '-'))) return std::nullopt;
  const auto year = take_number(text, 4);
  if (!year || year->digits != 4) return std::nullopt;
  return Date{.year = year->value, .month = *month, .day = day};
}

/// A date that starts with a number.
std::optional<Date> take_date(std::string_view& text) noexcept {
  const auto first = take_number(text, 8);
  if (!first || text.empty()) return std::nullopt;
  if (first->digits == 8) {
    const std::int64_t number = first->value;
    return Date{.year = number / 10'000, .month = number / 100 % 100, .day = number % 100};
  }
  const char separator = text.front();
  const bool is_named = text.size() > 1 && is_letter(text[1]);
  if (is_named && first->digits <= 2) return take_named(first->value, text);
  if (separator != '/' && separator != '-' && separator != '.') return std::nullopt;
  text.remove_prefix(1);
  const auto second = take_number(text, 2);
  if (!second || !take(text, separator)) return std::nullopt;
  const auto third = take_number(text, 4);
  if (!third) return std::nullopt;
  if (first->digits == 4 && third->digits <= 2) {
    return Date{.year = first->value, .month = second->value, .day = third->value};
  }
  if (first->digits > 2 || third->digits != 4) return std::nullopt;
  // With points it is day, month, year wherever it is written.
  if (separator == '.') {
    return Date{.year = third->value, .month = second->value, .day = first->value};
  }
  return in_order(first->value, second->value, third->value);
}

/// "Z", "UTC", "+01:00", "-0800": the milliseconds by which the zone is ahead.
std::optional<std::int64_t> take_zone(std::string_view& text) noexcept {
  text = trimmed(text);
  for (const std::string_view name : {"UTC", "GMT", "Z"}) {
    if (take_prefix(text, name)) return 0;
  }
  const bool is_ahead = text.starts_with('+');
  if (!is_ahead && !text.starts_with('-')) return 0;
  text.remove_prefix(1);
  const auto hours = take_number(text, 4);
  if (!hours || hours->digits % 2 != 0) return std::nullopt;
  std::int64_t minutes = hours->digits == 4 ? hours->value % 100 : 0;
  const std::int64_t whole = hours->digits == 4 ? hours->value / 100 : hours->value;
  if (hours->digits == 2 && take(text, ':')) {
    const auto more = take_number(text, 2);
    if (!more || more->digits != 2) return std::nullopt;
    minutes = more->value;
  }
  if (whole > 14 || minutes > 59) return std::nullopt;
  const std::int64_t ms = (whole * 60 + minutes) * 60 * kMsPerSecond;
  return is_ahead ? ms : -ms;
}

/// "09:15:00.123", "9:15 PM": milliseconds of the day.
std::optional<std::int64_t> take_clock(std::string_view& text) noexcept {
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || minute->digits != 2) return std::nullopt;
  std::int64_t ms = 0;
  if (take(text, ':')) {
    const auto second = take_number(text, 2);
    const auto fraction = second ? take_fraction_ms(text) : std::nullopt;
    if (!fraction || second->digits != 2 || second->value > 60) return std::nullopt;
    ms = second->value * kMsPerSecond + *fraction;
  }
  std::int64_t hours = hour->value;
  std::string_view rest = trimmed(text);
  const bool is_morning = take_prefix(rest, "AM") || take_prefix(rest, "am");
  const bool is_afternoon = !is_morning && (take_prefix(rest, "PM") || take_prefix(rest, "pm"));
  if (is_morning || is_afternoon) {
    if (hours < 1 || hours > 12) return std::nullopt;
    hours = hours % 12 + (is_afternoon ? 12 : 0);
    text = rest;
  }
  if (hours > 23 || minute->value > 59) return std::nullopt;
  return (hours * 60 + minute->value) * 60 * kMsPerSecond + ms;
}

std::optional<std::int64_t> midnight_ms(const Date& date) noexcept {
  // Nobody measured before; and what is later is no year.
  if (date.year < 1970 || date.year > 2200) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(date.year)),
                                        std::chrono::month(static_cast<unsigned>(date.month)),
                                        std::chrono::day(static_cast<unsigned>(date.day))};
  if (!day.ok()) return std::nullopt;
  return milliseconds(std::chrono::sys_days(day).time_since_epoch()).count();
}

/// "1772442900.123", "1772442900123": since 1970, in the unit that makes it a year of ours.
std::optional<std::int64_t> since_1970_ms(std::string_view text) noexcept {
  constexpr std::size_t kMostDigits = 19;
  const auto whole = take_number(text, kMostDigits - 1);
  std::string_view rest = text;
  if (!whole) return std::nullopt;
  switch (whole->digits) {
    case 10: {
      const auto fraction = take_fraction_ms(rest);
      if (!fraction || !rest.empty()) return std::nullopt;
      return whole->value * kMsPerSecond + *fraction;
    }
    case 13:
      if (take_fraction_ms(rest) && rest.empty()) return whole->value;
      return std::nullopt;
    case 16:
      return rest.empty() ? std::optional(whole->value / 1000) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// 19 digits: in nanoseconds.
std::optional<std::int64_t> nanoseconds_as_ms(std::string_view text) noexcept {
  constexpr std::size_t kDigits = 19;
  constexpr std::int64_t kNsPerMs = 1'000'000;
  if (text.size() != kDigits) return std::nullopt;
  const auto value = parse_number<std::int64_t>(text);
  return value && *value > 0 ? std::optional(*value / kNsPerMs) : std::nullopt;
}

/// "Mar  2 09:15:00 UTC 2026", as `date` and asctime write it.
std::optional<std::int64_t> parse_month_first(std::string_view text) noexcept {
  const auto month = take_month(text);
  if (!month) return std::nullopt;
  text = trimmed(text);
  const auto day = take_number(text, 2);
  if (!day || !text.starts_with(' ')) return std::nullopt;
  text = trimmed(text);
  const auto clock_ms = take_clock(text);
  const auto zone_ms = clock_ms ? take_zone(text) : std::nullopt;
  if (!zone_ms) return std::nullopt;
  text = trimmed(text);
  const auto year = take_number(text, 4);
  if (!year || !text.empty()) return std::nullopt;
  const auto midnight = midnight_ms({.year = year->value, .month = *month, .day = day->value});
  if (!midnight) return std::nullopt;
  return *midnight + *clock_ms - *zone_ms;
}

}  // namespace

std::optional<std::int64_t> parse_any_time_ms(std::string_view text) noexcept {
  text = trimmed(text);
  skip_weekday(text);
  if (!text.empty() && is_letter(text[0])) return parse_month_first(text);
  if (const auto ns_as_ms = nanoseconds_as_ms(text)) return ns_as_ms;
  if (const auto ms = since_1970_ms(text)) return ms;
  const auto date = take_date(text);
  const auto midnight = date ? midnight_ms(*date) : std::nullopt;
  if (!midnight) return std::nullopt;
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  text = trimmed(text);
  const auto clock_ms = take_clock(text);
  const auto zone_ms = clock_ms ? take_zone(text) : std::nullopt;
  if (!zone_ms || !trimmed(text).empty()) return std::nullopt;
  return *midnight + *clock_ms - *zone_ms;
}

bool is_ambiguous_date(std::string_view text) noexcept {
  text = trimmed(text);
  const auto first = take_number(text, 2);
  const bool has_slash = take(text, '/');
  if (!first || (!has_slash && !take(text, '-'))) return false;
  const auto second = take_number(text, 2);
  if (!second || !take(text, has_slash ? '/' : '-')) return false;
  const auto year = take_number(text, 4);
  return year && year->digits == 4 && !in_order(first->value, second->value, year->value);
}

bool TimeReader::take_other(std::string_view text) noexcept {
  const bool is_trimmed = !text.empty() && is_digit(text.front()) && is_digit(text.back());
  if (!is_trimmed) text = trimmed(text);
  return is_of_nvidia_smi_ && text.size() == kBytes ? take_next(text) : take_any(text);
}

bool TimeReader::take_next(std::string_view text) noexcept {
  if (std::memcmp(text.data(), last_.data(), kMinuteBytes) != 0) return take_any(text);
  const auto digit = [&](std::size_t at) { return static_cast<unsigned>(text[at] - '0'); };
  const unsigned second = digit(17) * 10 + digit(18);
  const bool are_digits = std::max({digit(17), digit(18), digit(20), digit(21), digit(22)}) <= 9;
  if (!are_digits || text[19] != '.' || second > 60) return false;
  text.copy(last_.data(), kBytes);
  last_ms_ = minute_ms_ + static_cast<std::int64_t>(second) * kMsPerSecond +
             static_cast<std::int64_t>(digit(20) * 100 + digit(21) * 10 + digit(22));
  return true;
}

bool TimeReader::take_any(std::string_view text) noexcept {
  const auto time_ms = parse_local_ms(text);
  if (!time_ms) {
    const auto other_ms = is_of_nvidia_smi_ ? std::nullopt : parse_any_time_ms(text);
    if (other_ms) last_ms_ = *other_ms;
    return other_ms.has_value();
  }
  is_of_nvidia_smi_ = true;
  text.copy(last_.data(), kBytes);
  const std::int64_t second = (text[17] - '0') * 10 + (text[18] - '0');
  const std::int64_t ms = (text[20] - '0') * 100 + (text[21] - '0') * 10 + (text[22] - '0');
  last_ms_ = *time_ms;
  minute_ms_ = *time_ms - second * kMsPerSecond - ms;
  return true;
}

}  // namespace wattle
