#include "calibration/meter_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "run_monitor/tables/any_time.hpp"
#include "run_monitor/tables/column_title.hpp"

namespace wattle {
namespace {

/// Logs of a year at 1 s are shorter: what is longer is no log of a run.
constexpr std::size_t kMostSamples = 40'000'000;
constexpr std::size_t kMostTitle = 40;

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const bool is_last = line.find(',') == std::string_view::npos;
    cells.push_back(trimmed(take_until(line, ',')));
    if (is_last) return cells;
  }
}

bool is_time_name(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords = {
      "time", "timestamp", "date", "datetime", "epoch", "unix", "t", "seconds", "elapsed"};
  const std::string_view first = name.substr(0, name.find_first_of("_ ./"));
  return std::ranges::find(kWords, first) != kWords.end();
}

/// "W" of "power_w", "mW" of "power mw": after the last separator; empty where it is no unit.
std::string_view unit_in_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kUnits = {
      {{"w", "W"},
       {"watt", "W"},
       {"watts", "W"},
       {"mw", "mW"},
       {"milliwatts", "mW"},
       {"kw", "kW"},
       {"uw", "uW"}}};
  const std::size_t end = name.find_last_of("_ .");
  const std::string_view last = end == std::string_view::npos ? name : name.substr(end + 1);
  const auto* const known =
      std::ranges::find(kUnits, last, &std::pair<std::string_view, std::string_view>::first);
  return known == kUnits.end() ? std::string_view() : known->second;
}

bool is_power(const ColumnTitle& title) {
  if (title.has_unit && !title.unit.empty()) {
    return factor_of(CellQuantity::power, title.unit).has_value();
  }
  return !unit_in_name(title.name).empty() || title.name.find("power") != std::string::npos;
}

/// Seconds of a unit of time in a title; 1 where it names none.
double time_unit_of(const ColumnTitle& title) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {{{"ms", 1e-3},
                                                                          {"us", 1e-6},
                                                                          {"min", 60.0},
                                                                          {"minutes", 60.0},
                                                                          {"h", 3600.0},
                                                                          {"hours", 3600.0}}};
  const std::size_t end = title.name.find_last_of("_ .");
  const std::string_view last = title.has_unit && !title.unit.empty() ? title.unit
                                : end == std::string::npos
                                    ? std::string_view()
                                    : std::string_view(title.name).substr(end + 1);
  const auto* const known =
      std::ranges::find(kUnits, last, &std::pair<std::string_view, double>::first);
  return known == kUnits.end() ? 1.0 : known->second;
}

/// A number since 1970, whose size shows its unit.
std::optional<double> since_1970(double number) noexcept {
  for (const auto& [least, unit_s] :
       {std::pair(1e9, 1.0), {1e12, 1e-3}, {1e15, 1e-6}, {1e18, 1e-9}}) {
    if (number >= least && number < least * 10.0) return number * unit_s;
  }
  return std::nullopt;
}

}  // namespace

void MeterTable::take(std::string_view line) {
  line = trimmed(line);
  const bool is_comment = take_prefix(line, "#");
  if (is_comment && (has_begun_ || line.find(',') == std::string_view::npos)) return;
  cells_ = cells_of(line);
  const std::string_view first = cells_.front();
  if (!has_begun_) {
    has_begun_ = true;
    const bool has_titles =
        !parse_double(first) && !parse_any_time_ms(first) && !is_ambiguous_date(first);
    if (has_titles) titles_.assign(cells_.begin(), cells_.end());
    choose_time();
    choose_power();
    if (has_titles) return;
  }
  take_row();
}

void MeterTable::choose_time() {
  std::optional<std::size_t> date;
  std::optional<std::size_t> time;
  std::optional<std::size_t> other;
  for (std::size_t i = 0; i < titles_.size(); ++i) {
    const ColumnTitle title = column_title(titles_[i]);
    if (title.name == "date" && !date) date = i;
    if (title.name == "time" && !time) time = i;
    if (is_time_name(title.name) && !other) other = i;
  }
  if (date && time) {
    time_ = *date;
    time_of_day_ = time;
  } else {
    time_ = other.value_or(0);
  }
  if (!titles_.empty()) time_unit_s_ = time_unit_of(column_title(titles_[time_]));
}

std::optional<std::size_t> MeterTable::asked_column() const {
  for (std::size_t i = 0; i < titles_.size(); ++i) {
    if (titles_[i] == asked_.power || column_title(titles_[i]).name == lower(asked_.power))
      return i;
  }
  const auto number = parse_unsigned<std::size_t>(asked_.power);
  return number && *number >= 1 && *number <= cells_.size() ? std::optional(*number - 1)
                                                            : std::nullopt;
}

void MeterTable::choose_asked_power(const std::vector<std::string>& names) {
  if (const auto asked = asked_column()) return choose_unit(*asked);
  problem_ = fmt::format("there is no column {}; there {}", printable(asked_.power, kMostTitle),
                         names.empty() ? "is none beside the time" : "are " + joined(names, ", "));
}

void MeterTable::choose_power() {
  std::vector<std::size_t> columns;   // beside the time
  std::vector<std::size_t> possible;  // by their titles
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (i == time_ || i == time_of_day_) continue;
    const bool is_named = !titles_.empty() && is_power(column_title(titles_[i]));
    // Its number names a column without a title.
    const bool has_title = !titles_.empty() && !trimmed(titles_[i]).empty();
    names.push_back(has_title ? printable(titles_[i], kMostTitle) : std::to_string(i + 1));
    columns.push_back(i);
    if (is_named) possible.push_back(i);
  }
  if (!asked_.power.empty()) return choose_asked_power(names);
  if (possible.size() == 1) return choose_unit(possible.front());
  if (possible.empty() && columns.size() == 1) return choose_unit(columns.front());
  if (columns.empty()) {
    problem_ = "it has one column; a time and a power are needed";
  } else {
    problem_ = fmt::format("several columns may be the power; choose one with --column: {}",
                           joined(names, ", "));
  }
}

void MeterTable::choose_unit(std::size_t column) {
  power_ = column;
  if (!titles_.empty()) column_ = titles_[column];
  if (!asked_.unit.empty()) {
    unit_.factor = factor_of(CellQuantity::power, asked_.unit).value_or(UnitFactor{});
    return;
  }
  if (titles_.empty()) return;
  const ColumnTitle title = column_title(titles_[column]);
  if (const auto named = factor_of(CellQuantity::power, unit_in_name(title.name))) {
    unit_.factor = *named;
  }
  if (!title.has_unit || title.unit.empty()) return;
  const auto unit = unit_of(title, CellQuantity::power);
  if (unit) {
    unit_ = *unit;
  } else {
    problem_ = unknown_unit_text(title, CellQuantity::power) + "; state it with --unit";
  }
}

std::string MeterTable::time_text() const {
  std::string text(time_ < cells_.size() ? cells_[time_] : std::string_view());
  if (time_of_day_ && *time_of_day_ < cells_.size()) {
    text += ' ';
    text += cells_[*time_of_day_];
  }
  return text;
}

std::optional<double> MeterTable::time_of_row() {
  const std::string text = time_text();
  const auto number = parse_double(text);
  std::optional<double> time_s = number ? since_1970(*number) : std::nullopt;
  if (!number) {
    const auto ms = parse_any_time_ms(text);
    if (ms) time_s = static_cast<double>(*ms) / 1000.0;
  }
  TimeKind kind = TimeKind::unix;
  if (number && !time_s && std::abs(*number) < 1e9) {
    kind = TimeKind::relative;
    time_s = *number * time_unit_s_;
  }
  if (!time_s || (kind_ != TimeKind::unknown && kind != kind_)) return std::nullopt;
  kind_ = kind;
  return time_s;
}

void MeterTable::take_row() {
  const auto time_s = time_of_row();
  const auto is_number = [](std::string_view cell) { return parse_cell(cell).is_number(); };
  if (time_s && std::ranges::any_of(cells_.begin() + 1, cells_.end(), is_number)) ++readable_;
  const Cell power =
      power_ < cells_.size() && problem_.empty() ? parse_cell(cells_[power_], unit_) : Cell{};
  const bool is_good = time_s && power.is_number() && samples_.size() < kMostSamples;
  count_row(is_good);
  if (is_good) {
    samples_.push_back({.time_s = *time_s, .power_w = power.value()});
    return;
  }
  note_bad([&] {
    if (!problem_.empty()) return problem_;
    const std::string text = time_text();
    if (!time_s && is_ambiguous_date(text)) {
      return fmt::format("\"{}\" may be two days; write dates as 2026-03-02",
                         printable(text, kMostTitle));
    }
    if (!time_s) return fmt::format("\"{}\" is no time", printable(text, kMostTitle));
    return std::string("its power is no number from 0 on");
  });
}

}  // namespace wattle
