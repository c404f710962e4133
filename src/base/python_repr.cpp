#include "base/python_repr.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace wattle {
namespace {

/// The least exponent of ten that is written without one, and the first that is not any more
/// (Python's float_repr_style "short").
constexpr int kLeastPlainExponent = -4;
constexpr int kEndOfPlainExponents = 16;

/// Room for any number that std::to_chars writes here: sign, 17 digits, point, "e-308"; or 64 bits.
using Buffer = std::array<char, 32>;

/// The digits of a positive number, the point behind the first of them, and the power of ten.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal shortest_decimal(double magnitude) {
  Buffer buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal decimal;
  decimal.digits = text.substr(0, 1);
  if (e > 2) decimal.digits += text.substr(2, e - 2);
  // std::from_chars takes no plus sign.
  const std::size_t number = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + number, text.data() + text.size(), decimal.exponent);
  return decimal;
}

void append_with_exponent(std::string& out, const Decimal& decimal) {
  out += decimal.digits[0];
  if (decimal.digits.size() > 1) {
    out += '.';
    out.append(decimal.digits, 1);
  }
  out += decimal.exponent < 0 ? "e-" : "e+";
  const std::string exponent = std::to_string(std::abs(decimal.exponent));
  if (exponent.size() < 2) out += '0';
  out += exponent;
}

void append_plain(std::string& out, const Decimal& decimal) {
  if (decimal.exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-decimal.exponent - 1), '0');
    out += decimal.digits;
    return;
  }
  const std::size_t before_point = static_cast<std::size_t>(decimal.exponent) + 1;
  if (decimal.digits.size() <= before_point) {
    out += decimal.digits;
    out.append(before_point - decimal.digits.size(), '0');
    out += ".0";
  } else {
    out.append(decimal.digits, 0, before_point);
    out += '.';
    out.append(decimal.digits, before_point);
  }
}

}  // namespace

void append_python_repr(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  if (std::signbit(value)) out += '-';
  if (std::isinf(value)) {
    out += "inf";
    return;
  }
  const Decimal decimal = shortest_decimal(std::abs(value));
  const bool plain =
      decimal.exponent >= kLeastPlainExponent && decimal.exponent < kEndOfPlainExponents;
  plain ? append_plain(out, decimal) : append_with_exponent(out, decimal);
}

double python_round(double value, int decimals) noexcept {
  // Sign, 309 digits before the point, the point, and the decimals.
  std::array<char, 330> buffer;
  if (!std::isfinite(value)) return value;
  char* const begin = buffer.data();
  const auto written =
      std::to_chars(begin, begin + buffer.size(), value, std::chars_format::fixed, decimals);
  double rounded = value;
  std::from_chars(begin, written.ptr, rounded);
  return rounded;
}

void append_python_repr(std::string& out, std::int64_t value) {
  Buffer buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), written.ptr);
}

}  // namespace wattle
