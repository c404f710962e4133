// The texts of a powercap zone and what they mean: directory names, zone names, and the unit
// hidden in a zone's range. Pure functions; docs/sensors/powercap.md has the facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wattle/domain.hpp"
#include "wattle/units.hpp"

namespace wattle::powercap {

/// A zone's directory: "intel-rapl:0" or "intel-rapl:0:1".
struct ZoneId {
  std::string_view control;          ///< control type: "intel-rapl", "intel-rapl-mmio"
  std::uint32_t zone = 0;            ///< number of the top-level zone; no relation to its socket
  std::optional<std::uint32_t> sub;  ///< number below it, absent for a top-level zone
};
[[nodiscard]] std::optional<ZoneId> parse_zone_id(std::string_view directory) noexcept;

/// The `name` of a top-level zone, "package-0", "package-1-die-0", "psys", "psys-1", as a domain;
/// absent for any other.
[[nodiscard]] std::optional<Domain> parse_top_zone_name(std::string_view name) noexcept;

/// The `name` of a zone inside a package: "core", "uncore", "dram"; absent for any other.
[[nodiscard]] std::optional<DomainKind> parse_sub_zone_name(std::string_view name) noexcept;

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
