// Division by a number that is known long before: one multiplication and one shift.
#pragma once

#include <bit>
#include <cstdint>

#include "base/numbers/uint128.hpp"

namespace wattle {

/// Divides by a fixed number, exactly. A division of 64-bit numbers takes 20 to 90 cycles on many
/// machines; this takes 4. Threads: a value type.
///
/// Let 2^s be the least power of two that is not below the divisor d, and m = floor(2^(63+s)/d)
/// + 1. Then m d = 2^(63+s) + e with 0 < e <= 2^s, so n m / 2^(63+s) exceeds n/d by n e / (d
/// 2^(63+s)), which for n < 2^63 is below 1/d: too little to reach the next integer.
class ExactDivider {
 public:
  /// `divisor` is from 1 to 2^63.
  explicit constexpr ExactDivider(std::uint64_t divisor) noexcept
      : divisor_(divisor),
        shift_(63U + static_cast<unsigned>(std::bit_width(divisor - 1))),
        factor_(static_cast<std::uint64_t>((Uint128{1} << shift_) / divisor + 1)) {}

  [[nodiscard]] constexpr std::uint64_t divisor() const noexcept { return divisor_; }

  /// `number / divisor()`, rounded down; `number` is below 2^63.
  [[nodiscard]] constexpr std::uint64_t quotient(std::uint64_t number) const noexcept {
    return static_cast<std::uint64_t>((Uint128{number} * factor_) >> shift_);
  }

 private:
  std::uint64_t divisor_;
  unsigned shift_;
  std::uint64_t factor_;
};

}  // namespace wattle
