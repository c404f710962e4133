#include "run_monitor/table_cell.hpp"

#include <algorithm>
#include <array>

#include "base/parse.hpp"
#include "base/split.hpp"

namespace wattle {
namespace {

constexpr bool is_unit(char c) noexcept { return is_letter(c) || c == '%' || c == '/'; }

/// The plain numbers that nearly all cells are; false for others, which may be numbers too.
bool parse_plain(std::string_view text, double& value) noexcept {
  // Exact: both whole numbers are below 2^53, and so the quotient is the nearest to the decimal.
  constexpr std::size_t kMostDigits = 15;
  constexpr std::array<double, kMostDigits + 1> kPowers = {
      1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (text.empty() || text.size() > kMostDigits || !is_digit(text[0])) return false;
  std::uint64_t digits = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i])) {
      digits = digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
    } else if (text[i] == '.' && point == text.size()) {
      point = i;
    } else {
      return false;
    }
  }
  if (point + 1 == text.size()) return false;
  const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
  value = static_cast<double>(digits) / kPowers[decimals];
  return true;
}

bool is_missing(std::string_view text) noexcept {
  return text.empty() || text == "-" || text == "N/A" ||
         (text.size() >= 2 && text.front() == '[' && text.back() == ']' &&
          text.find('\0') == std::string_view::npos);
}

}  // namespace

Cell parse_cell(std::string_view text) noexcept {
  text = trimmed(text);
  Cell cell{.kind = Cell::Kind::number};
  if (parse_plain(text, cell.value)) return cell;
  if (is_missing(text)) return {.kind = Cell::Kind::missing};
  const std::size_t blank = text.find(' ');
  if (blank != std::string_view::npos) {
    const std::string_view unit = trimmed(text.substr(blank));
    if (!std::ranges::all_of(unit, is_unit)) return {.kind = Cell::Kind::bad};
    text = text.substr(0, blank);
  }
  const auto value = parse_double(text);
  // No device has as much of anything as this, and sums of less stay finite. A number that ends in
  // its point was cut off.
  constexpr double kMost = 1e15;
  if (!value || *value < 0.0 || *value > kMost || text.back() == '.')
    return {.kind = Cell::Kind::bad};
  cell.value = *value;
  return cell;
}

}  // namespace wattle
