// A power monitor of given sensors: for the command, which finds them itself, and for tests and the
// lab, which simulate them.
#pragma once

#include "power/selection.hpp"

namespace wattle {

/// Who reads the sensors of a monitor.
enum class ReadBy : std::uint8_t {
  lanes,   ///< threads, at the update period
  caller,  ///< `PowerMonitorMaker::read`, in virtual time
};

struct PowerMonitorMaker {
  /// As the constructor of `PowerMonitor`, but of the sensors in `found`. If the caller reads, the
  /// update period must be given. `clock` outlives everything that may be stuck in a driver.
  [[nodiscard]] static PowerMonitor make(Survey found, const TimeSource& clock,
                                         const PowerMonitorOptions& options,
                                         ReadBy reader = ReadBy::lanes);
  /// Reads everything once, if the caller reads.
  static void read(PowerMonitor& monitor) noexcept;
  /// The name of a monitored GPU among all devices. Throws `NoSuchDevice`.
  [[nodiscard]] static Domain domain_of(const PowerMonitor& monitor, std::uint32_t gpu);
  /// Reports new faults to the log, as the monitor does once a second; if the caller reads.
  static void report_faults(PowerMonitor& monitor);
};

}  // namespace wattle
