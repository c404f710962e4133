// Rice codes: many numbers of similar size in few bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/numbers/bit_stream.hpp"

namespace wattle {

/// The most numbers in one column.
inline constexpr std::size_t kMaxRiceColumn = 128;

/// How a column of numbers is coded: every number as its distance from `base`, the lowest
/// `low_bits` bits of that as they are, what is above them as a unary number. Where the numbers
/// scatter like noise this stays within a few percent of their entropy. Numbers far from the others
/// are exceptions, written in full with their place; where nearly all numbers are equal only the
/// exceptions are written.
struct RicePlan {
  std::uint64_t base = 0;
  unsigned low_bits = 0;
  std::uint64_t exceptions = 0;
  /// Length of the column when written by this plan, in bits.
  std::uint64_t bits = 0;
};

/// No column of `count` numbers is longer than this by the plan chosen for it.
[[nodiscard]] constexpr std::size_t max_rice_bits(std::size_t count) noexcept {
  return 92 + count * 82;
}

/// A good plan for 1 to `kMaxRiceColumn` `numbers`.
[[nodiscard]] RicePlan plan_rice(std::span<const std::uint64_t> numbers) noexcept;

/// Writes the column, with all that `take_rice` needs to know but its length.
void put_rice(BitWriter& writer, std::span<const std::uint64_t> numbers,
              const RicePlan& plan) noexcept;

/// Reads a column of as many numbers as there are places.
void take_rice(BitReader& reader, std::span<std::uint64_t> numbers) noexcept;

/// Small numbers of either sign as small numbers; negative ones are in two's complement.
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t number) noexcept {
  return (number << 1U) ^ (std::uint64_t{0} - (number >> 63U));
}
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t code) noexcept {
  return (code >> 1U) ^ (std::uint64_t{0} - (code & 1U));
}

/// A single number, in 6 bits and its own.
void put_number(BitWriter& writer, std::uint64_t number) noexcept;
[[nodiscard]] std::uint64_t take_number(BitReader& reader) noexcept;

}  // namespace wattle
