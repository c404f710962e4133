// A power monitor of given sensors: for the command, which has looked for them itself, and for
// tests and the lab, which play them.
#pragma once

#include "power/selection.hpp"

namespace wattle {

/// Who reads the sensors of a monitor.
enum class ReadBy : std::uint8_t {
  lanes,   ///< threads, at the update period
  caller,  ///< `PowerMonitorMaker::read`, in virtual time
};

struct PowerMonitorMaker {
  /// As the constructor of `PowerMonitor`, but of the sensors in `found`. Read by hand, the update
  /// period must be given. `clock` outlives everything that may be stuck in a driver.
  [[nodiscard]] static PowerMonitor make(Survey found, const Clock& clock,
                                         const PowerMonitorOptions& options,
                                         ReadBy reader = ReadBy::lanes);
  /// Reads everything once, where that is done by hand.
  static void read(PowerMonitor& monitor) noexcept;
  /// What a monitored GPU is called among all devices. Throws `NoSuchDevice`.
  [[nodiscard]] static Domain domain_of(const PowerMonitor& monitor, std::uint32_t gpu);
  /// Tells the log what is new, as lanes do once a second, where it is read by hand.
  static void report_faults(PowerMonitor& monitor);
};

}  // namespace wattle
