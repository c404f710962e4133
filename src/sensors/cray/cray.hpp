// The node's energy on HPE Cray machines, which the blade's controller counts and every user may
// read: files of /sys/cray/pm_counters, "46378192 J 1429816347613478 us". Facts, quirks and where
// they come from: docs/sensors/cray.md.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "sensors/sensor.hpp"

namespace wattle::cray {

/// One sensor with the node, its CPUs, its memory and its accelerators, if present. No other
/// interface shows these domains, so none is `taken`.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken);

/// A value and when the controller took it, by its own clock; 0 where it does not say.
struct StatedValue {
  std::uint64_t raw = 0;  ///< J or W
  std::uint64_t at_us = 0;
};
/// Absent for anything else, another unit included. `unit`: "J" or "W".
[[nodiscard]] std::optional<StatedValue> parse_stated_value(std::string_view text,
                                                            std::string_view unit) noexcept;

/// The part that contains all others.
inline constexpr std::string_view kNode = "node";

/// The quantity that a file of this name shows, and of what.
struct CounterName {
  Metric metric;
  std::string_view part;  ///< `kNode`, "cpu", "memory", "accel0"
};
/// Absent for limits of power, temperatures and what else there is.
[[nodiscard]] std::optional<CounterName> parse_counter_name(std::string_view file) noexcept;

}  // namespace wattle::cray
