// What whole servers draw at the wall, idle and at full load, by microarchitecture.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace wattle {

/// The date of the data (data/server-power.csv).
inline constexpr std::string_view kServerPowerDate = "2026-03-09";

/// Watts per hardware thread.
struct ThreadPower {
  double low_w = 0.0;
  double typical_w = 0.0;
  double high_w = 0.0;
};

/// A range holds at least 90 % of the machines that it was not made from; docs/estimates.md.
struct ServerPower {
  std::string_view key;
  std::string_view title;  ///< "AMD EPYC gen 3 (Milan)"; of a vendor its name
  unsigned machines = 0;   ///< that the ranges were made from
  ThreadPower idle;
  ThreadPower full;
  /// Full less idle of one machine: narrower than what the two ranges allow, or shifted, since the
  /// machine with the least idle power is not the one with the least at full load.
  ThreadPower above;
};

/// A row for each microarchitecture.
[[nodiscard]] std::span<const ServerPower> known_server_power() noexcept;
/// A row for each vendor, with the widest of its ranges: "amd", "arm", "intel".
[[nodiscard]] std::span<const ServerPower> server_power_of_vendors() noexcept;
/// The widest of all ranges. `key` and `title` are empty.
[[nodiscard]] const ServerPower& server_power_of_everyone() noexcept;

}  // namespace wattle
