#include "run_monitor/tables/table_dialect.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle {
namespace {

/// Stands in a cell for what no number has: the cell is bad.
constexpr char kNoNumber = '\'';

/// A number with one mark, and perhaps a unit: the place of the mark and how many digits follow.
struct Decimal {
  std::size_t mark = 0;
  std::size_t decimals = 0;
};

std::optional<Decimal> decimal_in(std::string_view cell) noexcept {
  std::size_t i = 0;
  while (i < cell.size() && is_digit(cell[i])) ++i;
  if (i == 0 || i == cell.size() || (cell[i] != ',' && cell[i] != '.')) return std::nullopt;
  Decimal decimal{.mark = i};
  for (++i; i < cell.size() && is_digit(cell[i]); ++i) ++decimal.decimals;
  const bool is_number = i == cell.size() || cell[i] == ' ' || cell[i] == '%' || is_letter(cell[i]);
  if (decimal.decimals == 0 || !is_number) return std::nullopt;
  return decimal;
}

/// The first cell of a line, without quotes.
std::string_view first_cell(std::string_view line, char separator) noexcept {
  return trimmed(line.substr(0, line.find(separator)), " \t\"");
}

/// True for the column that pandas writes before the others: it has no title, and counts the rows;
/// or is called "index", and counts on beyond the GPUs of any machine.
bool has_row_numbers(const std::vector<std::string>& lines, char separator) {
  if (lines.empty() || lines.front().find(separator) == std::string::npos) return false;
  const std::string_view title = first_cell(lines.front(), separator);
  if (title.empty() || title.starts_with("Unnamed: ")) return true;
  constexpr std::size_t kMostGpus = 16;
  if (title != "index" || lines.size() <= kMostGpus + 2) return false;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (parse_unsigned<std::size_t>(first_cell(lines[i], separator)) != i - 1) return false;
  }
  return true;
}

}  // namespace

std::string TableDialect::note() const {
  std::string text;
  if (separator_ == ';') text = "cells between semicolons";
  if (separator_ == '\t') text = "cells between tabs";
  if (mark_ == DecimalMark::comma) text += text.empty() ? "decimal commas" : ", decimal commas";
  if (has_row_numbers_) text += text.empty() ? "row numbers skipped" : ", row numbers skipped";
  return text;
}

std::string_view TableDialect::rewritten(std::string_view line) {
  // The first line, in which spreadsheets keep the separator.
  if (line.size() == 5 && line.starts_with("sep=")) return {};
  line_.clear();
  has_ended_ = false;
  bool is_first = true;
  bool skips = has_row_numbers_;
  while (take_cell(line)) {
    if (std::exchange(skips, false)) continue;
    if (!std::exchange(is_first, false)) line_ += ',';
    add_cell();
  }
  return line_;
}

bool TableDialect::take_cell(std::string_view& rest) {
  if (has_ended_) return false;
  cell_.clear();
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (take_prefix(rest, "\"")) {
    while (!rest.empty()) {
      const char c = rest.front();
      rest.remove_prefix(1);
      if (c != '"') {
        cell_ += c;
      } else if (!take_prefix(rest, "\"")) {
        break;
      } else {
        cell_ += '"';
      }
    }
  }
  const std::size_t end = std::min(rest.find(separator_), rest.size());
  cell_ += rest.substr(0, end);
  has_ended_ = end == rest.size();
  rest.remove_prefix(has_ended_ ? end : end + 1);
  return true;
}

void TableDialect::add_cell() {
  const std::string_view cell = trimmed(cell_);
  const auto decimal = decimal_in(cell);
  const std::size_t begin = line_.size();
  line_ += cell;
  if (decimal) {
    const bool has_comma = cell[decimal->mark] == ',';
    // Between commas a cell such as "1,234" may be a thousand.
    const bool may_be_thousands = has_comma && separator_ == ',' && decimal->decimals == 3;
    const DecimalMark mark = has_comma ? DecimalMark::comma : DecimalMark::point;
    if (mark_ == DecimalMark::unknown && !may_be_thousands) mark_ = mark;
    line_[begin + decimal->mark] = mark_ == mark && !may_be_thousands ? '.' : kNoNumber;
    return;
  }
  // A comma in a time is that before its fraction; in a name it does not matter.
  const bool is_time =
      !cell.empty() && is_digit(cell.front()) && cell.find(':') != std::string_view::npos;
  std::replace(line_.begin() + static_cast<std::ptrdiff_t>(begin), line_.end(), ',',
               is_time ? '.' : kNoNumber);
}

std::vector<TableDialect> possible_dialects(const std::vector<std::string>& lines) {
  std::vector<TableDialect> dialects;
  bool counts_rows = false;
  const auto occurs = [&](char c) {
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.find(c) != std::string::npos; });
  };
  const bool has_quotes = occurs('"');
  for (const char separator : {',', ';', '\t'}) {
    if (!occurs(separator)) continue;
    const bool has_numbers = has_row_numbers(lines, separator);
    counts_rows = counts_rows || has_numbers;
    if (separator == ',' && !has_quotes && !has_numbers) continue;
    dialects.emplace_back(separator, has_numbers);
  }
  dialects.insert(counts_rows ? dialects.end() : dialects.begin(), TableDialect());
  return dialects;
}

}  // namespace wattle
