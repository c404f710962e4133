#include "run_monitor/tables/table_cell.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle {
namespace {

using namespace std::string_view_literals;

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// As `trimmed`, for the few blanks that cells have.
constexpr std::string_view without_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool is_unit(char c) noexcept { return is_letter(c) || c == '%' || c == '/'; }

template <class T>
std::uint64_t loaded(const char* bytes) noexcept {
  T value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// One to eight characters at the end of a word, the last one in the highest byte.
std::uint64_t word_of(std::string_view text) noexcept {
  const char* const begin = text.data();
  const std::size_t size = text.size();
  std::uint64_t word = static_cast<unsigned char>(*begin);
  if (size >= sizeof(std::uint32_t)) {
    const char* const end = begin + size - sizeof(std::uint32_t);
    word = loaded<std::uint32_t>(begin) | loaded<std::uint32_t>(end) << 8 * (end - begin);
  } else if (size >= sizeof(std::uint16_t)) {
    const char* const end = begin + size - sizeof(std::uint16_t);
    word = loaded<std::uint16_t>(begin) | loaded<std::uint16_t>(end) << 8 * (end - begin);
  }
  return word << 8 * (sizeof word - size);
}

/// The plain numbers that nearly all cells are; false for others, which may be numbers too.
bool parse_plain(std::string_view text, double& value) noexcept {
  if (text.empty() || text.size() > kMostPlainDigits || !is_digit(text[0])) return false;
  if constexpr (std::endian::native == std::endian::little) {
    if (text.size() <= sizeof(std::uint64_t)) {
      value = plain_word(word_of(text), text.size());
      return value >= 0.0;
    }
  }
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
  value = static_cast<double>(digits) / kPowersOfTen[decimals];
  return true;
}

bool is_missing(std::string_view text) noexcept {
  // Forms that pandas and spreadsheets write besides nvidia-smi's.
  constexpr std::array kSigns = {"-"sv,    "N/A"sv,  "n/a"sv,  "NA"sv,   "NaN"sv, "nan"sv,
                                 "<NA>"sv, "None"sv, "null"sv, "NULL"sv, "#N/A"sv};
  if (text.empty() || std::ranges::find(kSigns, text) != kSigns.end()) return true;
  return text.size() >= 2 && text.front() == '[' && text.back() == ']' &&
         text.find('\0') == std::string_view::npos;
}

/// Takes the number that `text` starts with off it; absent where there is none.
std::optional<double> take_number(std::string_view& text) noexcept {
  constexpr std::string_view kOfNumbers = "0123456789.eE+-";
  std::size_t end = std::min(text.find_first_not_of(kOfNumbers), text.size());
  const auto value = parse_double(text.substr(0, end));
  if (!value || *value < 0.0 || *value > kMostOfACell) return std::nullopt;
  if (text[end - 1] == '.') return std::nullopt;  // it was cut off
  text.remove_prefix(end);
  return value;
}

struct NamedUnit {
  CellQuantity quantity;
  std::string_view name;
  UnitFactor factor;
};

constexpr double kMebibyteBytes = 1024.0 * 1024.0;

// KB and kb are left out: some mean 1000 bytes, some 1024, some bits.
constexpr std::array kUnits = {
    NamedUnit{CellQuantity::share, "%", {}},
    NamedUnit{CellQuantity::share, "percent", {}},
    NamedUnit{CellQuantity::share, "pct", {}},
    NamedUnit{CellQuantity::memory, "MiB", {}},
    NamedUnit{CellQuantity::memory, "MB", {1e6, kMebibyteBytes}},
    NamedUnit{CellQuantity::memory, "GiB", {1024.0, 1.0}},
    NamedUnit{CellQuantity::memory, "GB", {1e9, kMebibyteBytes}},
    NamedUnit{CellQuantity::memory, "TiB", {kMebibyteBytes, 1.0}},
    NamedUnit{CellQuantity::memory, "TB", {1e12, kMebibyteBytes}},
    NamedUnit{CellQuantity::memory, "KiB", {1.0, 1024.0}},
    NamedUnit{CellQuantity::memory, "kB", {1e3, kMebibyteBytes}},
    NamedUnit{CellQuantity::memory, "B", {1.0, kMebibyteBytes}},
    NamedUnit{CellQuantity::memory, "byte", {1.0, kMebibyteBytes}},
    NamedUnit{CellQuantity::memory, "bytes", {1.0, kMebibyteBytes}},
    NamedUnit{CellQuantity::power, "W", {}},
    NamedUnit{CellQuantity::power, "watt", {}},
    NamedUnit{CellQuantity::power, "watts", {}},
    NamedUnit{CellQuantity::power, "Watt", {}},
    NamedUnit{CellQuantity::power, "Watts", {}},
    NamedUnit{CellQuantity::power, "mW", {1.0, 1e3}},
    NamedUnit{CellQuantity::power, "kW", {1e3, 1.0}},
    NamedUnit{CellQuantity::power, "MW", {1e6, 1.0}},
    NamedUnit{CellQuantity::power, "uW", {1.0, 1e6}},
    NamedUnit{CellQuantity::power, "\xC2\xB5W", {1.0, 1e6}},
    NamedUnit{CellQuantity::power, "\xCE\xBCW", {1.0, 1e6}},
};

}  // namespace

Cell parse_any_cell(std::string_view text) noexcept {
  text = without_blanks(text);
  double plain = 0.0;
  if (parse_plain(text, plain)) return Cell(plain);
  if (is_missing(text)) return {};
  const auto value = take_number(text);
  if (!value) return Cell::bad();
  const bool has_blank = text.starts_with(' ');
  text = without_blanks(text);
  if (!text.empty() && (!has_blank || !std::ranges::all_of(text, is_unit))) return Cell::bad();
  return Cell(*value);
}

std::optional<UnitFactor> factor_of(CellQuantity quantity, std::string_view unit) noexcept {
  const auto* const known = std::ranges::find_if(kUnits, [&](const NamedUnit& named) {
    return named.quantity == quantity && named.name == unit;
  });
  return known == kUnits.end() ? std::nullopt : std::optional(known->factor);
}

Cell parse_any_cell(std::string_view text, const CellUnit& unit) noexcept {
  text = without_blanks(text);
  double plain = 0.0;
  if (parse_plain(text, plain)) return cell_in(unit.factor, plain);
  if (is_missing(text)) return {};
  const auto value = take_number(text);
  if (!value) return Cell::bad();
  // No-break spaces, which spreadsheets write before a unit.
  for (const std::string_view blank : {"\xC2\xA0", "\xE2\x80\xAF"}) {
    if (text.starts_with(blank)) text.remove_prefix(blank.size());
  }
  text = without_blanks(text);
  UnitFactor factor = unit.factor;
  if (!text.empty()) {
    const auto own = factor_of(unit.quantity, text);
    if (!own || (unit.is_stated && *own != unit.factor)) return Cell::bad();
    factor = *own;
  }
  return cell_in(factor, *value);
}

}  // namespace wattle
