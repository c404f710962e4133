// The texts of a PMU's folder in sysfs and what they mean. Pure functions; docs/sensors/perf.md
// has the facts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wattle/domain.hpp"
#include "wattle/units.hpp"

namespace wattle::perf {

/// The events of the PMU `power`, in the order in which a group reads them.
struct EventName {
  std::string_view name;
  DomainKind kind;
};
inline constexpr std::array kEventNames = {
    EventName{"energy-pkg", DomainKind::package},  //
    EventName{"energy-ram", DomainKind::dram},     //
    EventName{"energy-cores", DomainKind::core},   //
    EventName{"energy-gpu", DomainKind::uncore},   // the integrated one
    EventName{"energy-psys", DomainKind::psys},
};

/// The event's code, which goes into `perf_event_attr::config`, from "event=0x02"; absent where
/// anything else is asked for.
[[nodiscard]] std::optional<std::uint64_t> parse_event(std::string_view text) noexcept;

/// Turns the kernel's counts into ticks.
struct EventScale {
  Joules tick;         ///< an exact power of two where the `.scale` file names one
  unsigned shift = 0;  ///< low bits of a count that are always 0
  /// See `CounterTraits`.
  std::uint64_t followed_ticks = 0;

  [[nodiscard]] std::uint64_t ticks(std::uint64_t count) const noexcept { return count >> shift; }
};

/// From the text of a `.scale` file: the energy of one count in the unit of the `.unit` file,
/// joules. Absent where it is no number, or none that an energy counter can have.
[[nodiscard]] std::optional<EventScale> parse_scale(std::string_view text) noexcept;

/// True for the `.unit` of energy.
[[nodiscard]] bool is_joules(std::string_view unit) noexcept;

}  // namespace wattle::perf
