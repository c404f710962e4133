#include "base/text/python_repr.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

namespace wattle {

void append_python_repr(std::string& out, double value) {
  if (std::isnan(value)) {  // without the sign that fmt writes
    out += "nan";
    return;
  }
  // Python's digits and exponents, but for whole numbers.
  const std::size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);
  if (out.find_first_not_of("-0123456789", begin) == std::string::npos) out += ".0";
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

void append_python_repr(std::string& out, std::int64_t value) { out += std::to_string(value); }

}  // namespace wattle
