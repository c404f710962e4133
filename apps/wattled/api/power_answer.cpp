#include "api/power_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "api/public_cpu.hpp"
#include "api/unix_window.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "sampling/energy_fields.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint32_t kDefaultColumns = 360;
constexpr std::uint32_t kMostColumns = 1000;
/// A power of two: a period in whole milliseconds is divided by it without a rest.
constexpr std::int64_t kMostSteps = 4;

/// Columns of this length and more are whole slots of the history.
constexpr nanoseconds kLongColumn = 5 * SlotGrid::kSlot;

/// Makes long columns start with a slot, up to a slot earlier, and a whole number of slots long.
void align(TimeColumns& columns, const SlotGrid& slots) {
  const nanoseconds length = static_cast<nanoseconds::rep>(columns.count) * columns.width;
  const nanoseconds up = columns.width + SlotGrid::kSlot - nanoseconds(1);
  const nanoseconds width = up - up % SlotGrid::kSlot;
  if (columns.width < kLongColumn || width > length) return;
  columns.begin = slots.start(slots.slot_at(columns.begin));
  columns.width = width;
  columns.count = static_cast<std::size_t>(length / width);
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

/// Leaves out the future, and what is older than what is kept.
void limit_to(UnixWindow& window, const EnergyHistory& history) {
  const TimePoint now = history.now();
  window.to = std::min(window.to, to_unix(now));
  // A wall clock that was ahead before the first step would have it start in the future.
  const double by_present_clock = to_unix(now) - Seconds(now - history.oldest()).count();
  window.from = std::max(window.from, std::min(to_unix(history.oldest()), by_present_clock));
}

/// Starts with the first time that the wall clock showed: it was set forward over those before,
/// whose power is unknown. `period`: whole ones follow.
void skip_unseen(UnixWindow& window, milliseconds period) {
  constexpr double kClockError = 0.001;
  const double first = to_unix(from_unix(window.from));
  if (first > window.from + kClockError) window.from = first + Seconds(period).count();
}

void append(std::string& text, std::optional<Watts> power) {
  if (!power || !std::isfinite(power->si())) {
    text += "null";
    return;
  }
  // A page asks for ten thousand numbers: this takes a tenth of the time of fmt's own format.
  constexpr int kDigits = 6;
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), power->si(),
                                          std::chars_format::general, kDigits);
  text.append(digits.data(), end);
}

template <class Value>
std::string list_of(const std::vector<ColumnPower>& columns, Value value) {
  std::string text;
  for (const ColumnPower& column : columns) {
    if (!text.empty()) text += ',';
    append(text, value(column));
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
  const std::uint32_t most =
      parameters.whole_number_from("columns", 1, kMostColumns).value_or(kDefaultColumns);
  const bool is_coarse = public_period.count() > 0;
  if (is_coarse) window = rounded_down(window, public_period);
  limit_to(window, *history);
  skip_unseen(window, is_coarse ? public_period : milliseconds(0));
  if (!(window.from < window.to)) {
    throw QueryFault("The history has nothing of this window.", QueryFault::Form::json);
  }
  if (is_coarse) window = rounded_down(window, public_period);
  TimeColumns columns =
      columns_of(window, most, is_coarse ? public_period : EnergyHistory::kPeriod);
  if (!is_coarse) align(columns, history->slots());
  const Joules quantum(static_cast<double>(public_quantum_uj(public_period)) / 1e6);
  const std::string domains =
      joined(history->powers(columns, quantum), ",", [](const EnergyHistory::Power& power) {
        return fmt::format(R"({{"domain":"{}","additive":{},{},"flags":{}}})", power.domain.name(),
                           counts_in_total(power.domain.kind()), json_of(power.columns),
                           json_of(power.flags).dump());
      });
  const double width = Seconds(columns.width).count();
  const TimePoint asked = from_unix(window.from);
  const double from = columns.begin == asked ? window.from : to_unix(columns.begin);
  const double step = history->slots().holds(columns) ? Seconds(EnergyHistory::kPeriod).count()
                                                      : width / static_cast<double>(columns.steps);
  return {.body = fmt::format(
              R"({{"schema":"wattled.power/1","from":{},"column_s":{},"step_s":{},"columns":{},)"
              R"("domains":[{}]}})",
              from, width, step, columns.count, domains)};
}

}  // namespace wattle::daemon
