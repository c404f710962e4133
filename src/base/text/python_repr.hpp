// Numbers as Python writes them: what reads pyJoules' output reads ours.
#pragma once

#include <cstdint>
#include <string>

namespace wattle {

/// Adds `value` as Python's repr of a float: the fewest digits that read back the same, ".0" on
/// whole numbers, an exponent (of at least two digits) below 1e-4 and from 1e16 on, "inf", "nan".
/// Whatever the locale.
void append_python_repr(std::string& out, double value);

/// As Python's round: the nearest number with that number of decimals (0 to 9), found from all
/// digits of `value`; of two that are as near, the even one. NaN and infinities stay.
[[nodiscard]] double python_round(double value, int decimals) noexcept;

/// Adds `value` as Python's repr of an int.
void append_python_repr(std::string& out, std::int64_t value);

}  // namespace wattle
