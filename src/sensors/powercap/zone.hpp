// The unit hidden in a zone's range. Pure functions; docs/sensors/powercap.md has the facts.
#pragma once

#include <cstdint>
#include <optional>

#include "wattle/units.hpp"

namespace wattle::powercap {

/// Turns `energy_uj`, which the kernel rounds, back into the counter's own ticks.
struct TickScale {
  Joules tick;                ///< energy of one tick: an exact power of two where it is known
  std::uint64_t modulus = 0;  ///< ticks to a wrap; 0 = unknown
  /// The kernel shows floor(ticks * numerator / denominator) micro-joules.
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  /// Ticks from `energy_uj`; absent where it is beyond the counter's range.
  [[nodiscard]] std::optional<std::uint64_t> ticks(std::uint64_t energy_uj) const noexcept {
    if (energy_uj > UINT64_MAX / denominator - numerator) return std::nullopt;
    // Rounded up: a tick is at least 1 uJ, so exactly one number of ticks rounds down to a value.
    const std::uint64_t count = (energy_uj * denominator + numerator - 1) / numerator;
    if (modulus != 0 && count >= modulus) return std::nullopt;
    return count;
  }
};

/// The scale that `max_energy_range_uj` implies. Where it names no unit known: ticks of 1 uJ and a
/// modulus of the range plus one; where it is absent or 0: ticks of 1 uJ, modulus unknown.
[[nodiscard]] TickScale identify_scale(std::optional<std::uint64_t> max_energy_range_uj) noexcept;

}  // namespace wattle::powercap
