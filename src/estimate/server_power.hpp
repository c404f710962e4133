// The power of whole servers at the wall, idle and at full load, by microarchitecture.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace wattle {

/// The date of the data (data/server-power.csv).
inline constexpr std::string_view kServerPowerDate = "2026-03-09";

/// Where a quantity lies: low <= typical <= high.
struct PowerRange {
  double low = 0.0;
  double typical = 0.0;
  double high = 0.0;
};

/// A range holds at least 95 % of the machines that it was not made from; docs/estimates.md. The
/// ranges of power are factors of what `ServerScales` gives.
struct ServerPower {
  std::string_view key;
  std::string_view title;  ///< "AMD EPYC gen 3 (Milan)"
  unsigned machines = 0;   ///< that the ranges were made from
  PowerRange idle;
  PowerRange full;
  /// Full less idle of one machine: the machine with the least idle power is not the one with the
  /// least at full load.
  PowerRange above;
  PowerRange cores_per_package;  ///< of most of its servers
  bool has_smt = false;          ///< most of its servers have two threads a core
};

/// The power of a server: e^constant packages^by_packages (cores per package)^by_cores, in watts.
struct ServerScale {
  double constant = 0.0;
  double by_packages = 0.0;
  double by_cores = 0.0;

  [[nodiscard]] double watts(double packages, double cores_per_package) const noexcept;
};
struct ServerScales {
  ServerScale idle;
  ServerScale full;
  ServerScale above;
};

/// A row for each microarchitecture.
[[nodiscard]] std::span<const ServerPower> known_server_power() noexcept;
/// The range for any other server: nearly the widest of all. `key` and `title` are empty.
[[nodiscard]] const ServerPower& server_power_of_everyone() noexcept;
[[nodiscard]] const ServerScales& server_scales() noexcept;
/// For which machines that was checked, and with what result: "95 % of 895 servers ...".
[[nodiscard]] std::string_view server_power_check() noexcept;

}  // namespace wattle
