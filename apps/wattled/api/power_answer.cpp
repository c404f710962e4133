#include "api/power_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "api/public_cpu.hpp"
#include "api/unix_window.hpp"
#include "base/text/parse.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint32_t kDefaultColumns = 360;
constexpr std::uint32_t kMostColumns = 1000;
/// A power of two: a period in whole milliseconds is divided by it without a rest.
constexpr std::int64_t kMostSteps = 4;

std::uint32_t columns_in(const UrlQuery& query) {
  const auto text = query.find("columns");
  if (!text) return kDefaultColumns;
  const auto number = parse_unsigned<std::uint32_t>(*text);
  if (number && *number >= 1 && *number <= kMostColumns) return *number;
  throw QueryFault(fmt::format("`columns` must be a whole number from 1 to {}.", kMostColumns),
                   QueryFault::Form::json);
}

/// Whole columns, each a multiple of `period`; what is left of the window is left out.
TimeColumns columns_of(const UnixWindow& window, std::uint32_t most, milliseconds period) {
  const auto length = std::llround((window.to - window.from) * 1000.0) / period.count();
  if (length < 1) {
    throw QueryFault(fmt::format("The window must be at least {} s long.", Seconds(period).count()),
                     QueryFault::Form::json);
  }
  const std::int64_t per_column = (length + most - 1) / most;
  std::int64_t steps = 1;
  while (2 * steps <= std::min(per_column, kMostSteps)) steps *= 2;
  return {.begin = from_unix(window.from),
          .width = per_column * period,
          .count = static_cast<std::size_t>(length / per_column),
          .steps = static_cast<std::size_t>(steps)};
}

std::string number_of(std::optional<Watts> power) {
  if (!power || !std::isfinite(power->si())) return "null";
  return fmt::format("{:.6g}", power->si());
}

template <class Value>
std::string list_of(const std::vector<ColumnPower>& columns, Value value) {
  std::string text;
  for (const ColumnPower& column : columns) {
    if (!text.empty()) text += ',';
    text += number_of(value(column));
  }
  return text;
}

std::string json_of(const std::vector<ColumnPower>& columns) {
  return fmt::format(R"("mean_w":[{}],"uncertainty_w":[{}],"lowest_w":[{}],"highest_w":[{}])",
                     list_of(columns, [](const ColumnPower& column) { return column.mean; }),
                     list_of(columns, [](const ColumnPower& column) { return column.uncertainty; }),
                     list_of(columns, [](const ColumnPower& column) { return column.lowest; }),
                     list_of(columns, [](const ColumnPower& column) { return column.highest; }));
}

}  // namespace

Response power_answer(EnergyHistory* history, std::string_view query, milliseconds public_period) {
  if (history == nullptr) {
    return error_response(
        404, "This server keeps no history of power: start wattled with --history SECONDS.");
  }
  const UrlQuery parameters = UrlQuery::parse(query, {"from", "to", "columns"});
  UnixWindow window = window_in(parameters);
  const std::uint32_t most = columns_in(parameters);
  const bool is_coarse = public_period.count() > 0;
  if (is_coarse) window = rounded_down(window, public_period);
  window.from = std::max(window.from, to_unix(history->oldest()));
  window.to = std::min(window.to, to_unix(history->now()));
  if (!(window.from < window.to)) {
    throw QueryFault("The history has nothing of this window.", QueryFault::Form::json);
  }
  if (is_coarse) window = rounded_down(window, public_period);
  const TimeColumns columns =
      columns_of(window, most, is_coarse ? public_period : EnergyHistory::kPeriod);
  const Joules quantum(static_cast<double>(public_quantum_uj(public_period)) / 1e6);
  std::string domains;
  for (const EnergyHistory::Power& power : history->powers(columns, quantum)) {
    domains += fmt::format(R"({}{{"domain":"{}","additive":{},{}}})", domains.empty() ? "" : ",",
                           power.domain.name(), counts_in_total(power.domain.kind()),
                           json_of(power.columns));
  }
  const double width = Seconds(columns.width).count();
  return {.body = fmt::format(
              R"({{"schema":"wattled.power/1","from":{},"column_s":{},"step_s":{},"columns":{},)"
              R"("domains":[{}]}})",
              window.from, width, width / static_cast<double>(columns.steps), columns.count,
              domains)};
}

}  // namespace wattle::daemon
