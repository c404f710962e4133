// The numbers that nearly all cells of tables are: digits, and perhaps a point, read as one word.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace wattle {

/// Exact: both whole numbers are below 2^53, and so the quotient is the nearest to the decimal.
inline constexpr std::size_t kMostPlainDigits = 15;
inline constexpr std::array<double, kMostPlainDigits + 1> kPowersOfTen = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// Reads a number of one to eight characters, the last one in the highest byte of `word`; the bytes
/// below the first one do not matter. False for other texts than digits with a point between them
/// at most.
[[nodiscard]] inline bool take_plain_word(std::uint64_t word, std::size_t characters,
                                          double& value) noexcept {
  constexpr std::size_t kBytes = sizeof word;
  constexpr std::uint64_t kEach = 0x0101010101010101;
  word ^= kEach * '0';  // now a digit is its value
  word &= ~((std::uint64_t{1} << 8 * (kBytes - characters)) - 1);
  const std::uint64_t no_digits =
      (((word & kEach * 0x7F) + kEach * (0x80 - 10)) | word) & kEach * 0x80;
  std::size_t decimals = 0;
  if (no_digits != 0) {
    constexpr std::uint64_t kPoint = '.' ^ '0';
    const auto place = static_cast<std::size_t>(std::countr_zero(no_digits)) / 8;
    decimals = kBytes - 1 - place;
    const bool is_only_one = (no_digits & (no_digits - 1)) == 0;
    const bool is_between = decimals != 0 && place != kBytes - characters;
    if (!is_only_one || !is_between || (word >> 8 * place & 0xFF) != kPoint) return false;
    // The digits before the point move up into its place.
    const std::uint64_t before = (std::uint64_t{1} << 8 * place) - 1;
    word = (word & ~(before << 8U | 0xFF)) | (word & before) << 8U;
  }
  // Pairs, then both halves of the pairs at once.
  constexpr std::uint64_t kPairs = 0x000000FF000000FF;
  word = word * 10 + (word >> 8U);
  const std::uint64_t first = (word & kPairs) * (100 + (std::uint64_t{1'000'000} << 32U));
  const std::uint64_t second = (word >> 16U & kPairs) * (1 + (std::uint64_t{10'000} << 32U));
  value = static_cast<double>(static_cast<std::int64_t>((first + second) >> 32U));
  if (decimals != 0) value /= kPowersOfTen[decimals];
  return true;
}

/// Reads the number of a cell with at most one blank before it, if eight bytes that end with the
/// cell can be read, whatever they are. False for other cells, which may be numbers too.
[[nodiscard]] inline bool take_plain_cell(std::string_view text, double& value) noexcept {
  if constexpr (std::endian::native != std::endian::little) return false;
  std::uint64_t word = 0;
  const std::size_t characters = text.size() - (text.starts_with(' ') ? 1 : 0);
  if (characters - 1 >= sizeof word) return false;
  std::memcpy(&word, text.data() + text.size() - sizeof word, sizeof word);
  return take_plain_word(word, characters, value);
}

}  // namespace wattle
