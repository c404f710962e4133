// Settings of a device.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace wattle {

/// The power that the device holds itself to.
struct PowerLimit {
  std::uint32_t mw = 0;
  bool operator==(const PowerLimit&) const = default;
};
/// The driver stays loaded while nobody uses the device.
struct PersistenceMode {
  bool is_on = false;
  bool operator==(const PersistenceMode&) const = default;
};
enum class ClockKind : std::uint8_t { gpu, memory };
/// The clock stays within this range, ends included.
struct LockedClocks {
  ClockKind clock = ClockKind::gpu;
  std::uint32_t min_mhz = 0;
  std::uint32_t max_mhz = 0;
  bool operator==(const LockedClocks&) const = default;
};
/// The driver chooses the clock.
struct FreeClocks {
  ClockKind clock = ClockKind::gpu;
  bool operator==(const FreeClocks&) const = default;
};
using DeviceSetting = std::variant<PowerLimit, PersistenceMode, LockedClocks, FreeClocks>;

/// "power limit 150000 mW", "GPU clocks 210 to 1410 MHz".
[[nodiscard]] std::string to_string(const DeviceSetting& setting);

/// Why a device was not set.
struct SettingFailure {
  enum class FailureCause : std::uint8_t {
    out_of_range,  ///< of what the device takes; the message names the range
    not_offered,   ///< by this device, or its driver
    denied,        ///< this process lacks the rights
    failed,        ///< lost, busy, or another reason of the driver's
  };
  FailureCause cause = FailureCause::failed;
  std::string message;
};

}  // namespace wattle
