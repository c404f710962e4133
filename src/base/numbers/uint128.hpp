// 128-bit integers: sums of products of 64-bit numbers, without loss.
#pragma once

#include <cstdint>

namespace wattle {

// Not in ISO C++, but in every compiler for 64-bit machines.
__extension__ using Uint128 = unsigned __int128;

[[nodiscard]] constexpr Uint128 squared_difference(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t difference = a > b ? a - b : b - a;
  return Uint128{difference} * difference;
}

}  // namespace wattle
