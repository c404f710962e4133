// The numbers that nearly all cells of tables are: digits, and perhaps a point, read as one word.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace wattle {

/// Exact: both whole numbers are below 2^53, and so the quotient is the nearest to the decimal.
inline constexpr std::size_t kMostPlainDigits = 15;
inline constexpr std::array<double, kMostPlainDigits + 1> kPowersOfTen = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// The result of `plain_word` and `plain_cell` for other texts, which may be numbers too.
inline constexpr double kNotPlain = -1.0;

/// The digits of a word without the point that is in the byte `point`.
[[nodiscard]] inline std::uint64_t without_point(std::uint64_t word, std::size_t point) noexcept {
  // The digits before the point move up into its place.
  const std::uint64_t before = (std::uint64_t{1} << 8 * point) - 1;
  return (word & ~(before << 8U | 0xFF)) | (word & before) << 8U;
}

/// Eight digits, each a byte with its value, the last one in the highest byte.
[[nodiscard]] inline double number_of_digits(std::uint64_t word) noexcept {
  // Pairs, then both halves of the pairs at once.
  constexpr std::uint64_t kPairs = 0x000000FF000000FF;
  word = word * 10 + (word >> 8U);
  const std::uint64_t first = (word & kPairs) * (100 + (std::uint64_t{1'000'000} << 32U));
  const std::uint64_t second = (word >> 16U & kPairs) * (1 + (std::uint64_t{10'000} << 32U));
  return static_cast<double>(static_cast<std::int64_t>((first + second) >> 32U));
}

/// The number of one to eight characters, the last one in the highest byte of `word`; the bytes
/// below the first one do not matter. `kNotPlain` for other texts than digits with a point between
/// them at most. By value, and part of its callers: tables have millions of numbers.
[[nodiscard, gnu::always_inline]] inline double plain_word(std::uint64_t word,
                                                           std::size_t characters) noexcept {
  constexpr std::size_t kBytes = sizeof word;
  constexpr std::uint64_t kEach = 0x0101010101010101;
  word ^= kEach * '0';  // now a digit is its value
  word &= ~std::uint64_t{0} << 8 * (kBytes - characters);
  // A byte from 0x8A on carries into the next one, but there it does not matter any more.
  const std::uint64_t no_digits = ((word + kEach * (0x80 - 10)) | word) & kEach * 0x80;
  if (no_digits == 0) return number_of_digits(word);
  constexpr std::uint64_t kPoint = '.' ^ '0';
  const auto place = static_cast<std::size_t>(std::countr_zero(no_digits)) / 8;
  const std::size_t decimals = kBytes - 1 - place;
  const bool is_only_one = (no_digits & (no_digits - 1)) == 0;
  const bool is_between = decimals != 0 && place != kBytes - characters;
  if (!is_only_one || !is_between || (word >> 8 * place & 0xFF) != kPoint) return kNotPlain;
  return number_of_digits(without_point(word, place)) / kPowersOfTen[decimals];
}

#ifdef __SSE2__
/// By their number: all bits of the highest bytes of a word.
inline constexpr std::array<std::uint64_t, sizeof(std::uint64_t) + 1> kLastBytes = {
    0,
    0xFF00000000000000,
    0xFFFF000000000000,
    0xFFFFFF0000000000,
    0xFFFFFFFF00000000,
    0xFFFFFFFFFF000000,
    0xFFFFFFFFFFFF0000,
    0xFFFFFFFFFFFFFF00,
    0xFFFFFFFFFFFFFFFF};

/// Whole numbers of one to eight digits each, both at once. `ends`: after the last digit; eight
/// bytes before it can be read. False unless there are digits alone.
[[nodiscard, gnu::always_inline]] inline bool take_two_whole(
    const std::array<const char*, 2>& ends, const std::array<std::size_t, 2>& digits,
    std::array<double, 2>& numbers) noexcept {
  const auto both = [](const void* first, const void* second) {
    std::array<long long, 2> words{};
    std::memcpy(words.data(), first, sizeof words[0]);
    std::memcpy(&words[1], second, sizeof words[1]);
    return _mm_set_epi64x(words[1], words[0]);
  };
  __m128i bytes = both(ends[0] - sizeof(std::uint64_t), ends[1] - sizeof(std::uint64_t));
  bytes = _mm_xor_si128(bytes, _mm_set1_epi8('0'));  // now a digit is its value
  bytes = _mm_and_si128(bytes, both(&kLastBytes[digits[0]], &kLastBytes[digits[1]]));
  const __m128i beyond = _mm_subs_epu8(bytes, _mm_set1_epi8(9));
  if (_mm_movemask_epi8(_mm_cmpeq_epi8(beyond, _mm_setzero_si128())) != 0xFFFF) return false;
  // Pairs, fours, eights.
  const __m128i tens = _mm_and_si128(bytes, _mm_set1_epi16(0xFF));
  const __m128i pairs =
      _mm_add_epi16(_mm_mullo_epi16(tens, _mm_set1_epi16(10)), _mm_srli_epi16(bytes, 8));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 + (1 << 16)));
  const __m128i eights =
      _mm_add_epi32(_mm_mul_epu32(fours, _mm_set1_epi32(10'000)), _mm_srli_epi64(fours, 32));
  const __m128d values = _mm_cvtepi32_pd(_mm_shuffle_epi32(eights, _MM_SHUFFLE(3, 1, 2, 0)));
  numbers = {_mm_cvtsd_f64(values), _mm_cvtsd_f64(_mm_unpackhi_pd(values, values))};
  return true;
}
#endif

/// The number of a cell with at most one blank before it, if eight bytes that end with the cell can
/// be read, whatever they are; else `kNotPlain`.
[[nodiscard, gnu::always_inline]] inline double plain_cell(std::string_view text) noexcept {
  if constexpr (std::endian::native != std::endian::little) return kNotPlain;
  std::uint64_t word = 0;
  if (text.empty()) return kNotPlain;
  const std::size_t characters = text.size() - (text.front() == ' ' ? 1 : 0);
  if (characters - 1 >= sizeof word) return kNotPlain;
  std::memcpy(&word, text.data() + text.size() - sizeof word, sizeof word);
  return plain_word(word, characters);
}

}  // namespace wattle
