// The values that go from a stream to its readers. They are small, since there are many.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "wattle/units.hpp"
#include "wire/event.hpp"
#include "wire/messages.hpp"

namespace wattle::client {

using wire::DeviceId;
using wire::DeviceType;

/// A device of a server. Its number is its position among all devices that were ever reported; it
/// never changes.
struct Slot {
  std::uint32_t server = 0;  ///< place among the servers
  DeviceId device = 0;
  DeviceType type = DeviceType::gpu;
};

/// An unknown power.
inline constexpr double kNoPower = std::numeric_limits<double>::quiet_NaN();

[[nodiscard]] inline std::optional<Watts> known_power(double power_w) noexcept {
  return std::isnan(power_w) ? std::nullopt : std::optional(Watts(power_w));
}

/// One device's new value.
struct Update {
  double timestamp_s = 0.0;  ///< Unix, by this machine's clock
  double power_w = kNoPower;
  double dram_w = kNoPower;
  std::uint32_t slot = 0;
  bool is_gone = false;
  bool ends_event = true;
};
static_assert(sizeof(Update) == 32);

}  // namespace wattle::client
