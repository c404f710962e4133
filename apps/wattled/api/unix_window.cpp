#include "api/unix_window.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/parse.hpp"

namespace wattle::daemon {
namespace {

/// Later Unix times (the year 5138) exceed the range of the clocks.
constexpr double kLatest = 1e11;

/// Rounds down to a multiple of `period`, to a microsecond.
double time_rounded_down(double unix_s, std::chrono::milliseconds period) {
  const std::int64_t us = std::llround(unix_s * 1e6);
  return static_cast<double>(us - us % std::chrono::microseconds(period).count()) / 1e6;
}

}  // namespace

UnixWindow window_in(const UrlQuery& query) {
  const auto seconds = [&](std::string_view name) {
    const auto value = query.find(name);
    const auto number = value ? parse_double(*value) : std::nullopt;
    return number && *number >= 0.0 && *number <= kLatest ? number : std::nullopt;
  };
  const auto from = seconds("from");
  const auto to = seconds("to");
  if (!from || !to) {
    throw QueryFault(
        "Give the start and the end of the window in Unix seconds: "
        "?from=1762000000&to=1762000060.5",
        QueryFault::Form::json);
  }
  if (*from >= *to) throw QueryFault("`from` must lie before `to`.", QueryFault::Form::json);
  return {.from = *from, .to = *to};
}

UnixWindow rounded_down(const UnixWindow& window, std::chrono::milliseconds period) {
  const UnixWindow rounded{.from = time_rounded_down(window.from, period),
                           .to = time_rounded_down(window.to, period)};
  if (rounded.from < rounded.to) return rounded;
  throw QueryFault(
      fmt::format("The window is too short: its ends are rounded down to multiples of {} s for "
                  "callers without a token at this port.",
                  std::chrono::duration<double>(period).count()),
      QueryFault::Form::json);
}

}  // namespace wattle::daemon
