// The output of `wattle power` and `wattle energy`, as text, as JSON lines, as a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text/text_style.hpp"
#include "watch/power_options.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/estimate.hpp"
#include "wattle/units.hpp"

namespace wattle::app {

/// The energy of a device in a time.
struct DeviceEnergy {
  Domain domain;
  BestEnergy energy;
};

/// The values to print at one time.
struct PowerLine {
  double time_unix_s = 0.0;
  Seconds elapsed{0};  ///< since the start
  Seconds length{0};   ///< of the time that the energies were spent in
  std::vector<DeviceEnergy> devices;
  /// The estimate for the whole server, if requested and no device covers the CPU. Never measured.
  std::optional<EnergyEstimate> estimate{};
};

/// Where the mean power of the server lies.
struct ServerPowerRange {
  Watts low;
  Watts typical;
  Watts high;
};
/// By the estimate; absent where nothing is estimated.
[[nodiscard]] std::optional<ServerPowerRange> estimated_power(const PowerLine& line) noexcept;

/// The text before the first line: names of columns, or nothing.
[[nodiscard]] std::string header_of(const PowerOptions& options, const PowerLine& first,
                                    const TextStyle& style = {});
/// Powers, or energies since the start.
[[nodiscard]] std::string line_of(const PowerOptions& options, const PowerLine& line,
                                  const TextStyle& style = {});
/// The end: time, energy and mean power of each device.
[[nodiscard]] std::string totals_of(const PowerOptions& options, const PowerLine& total,
                                    const TextStyle& style = {});

}  // namespace wattle::app
