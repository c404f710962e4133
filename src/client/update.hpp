// The values that go from a stream to its readers, how their times are made, and the readings of
// all servers that they update. They are small, since there are many.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "wattle/power_stream.hpp"
#include "wattle/units.hpp"
#include "wire/event.hpp"
#include "wire/messages.hpp"

namespace wattle::client {

/// Threads: a value type.
struct ClockOffset {
  double offset_s = 0.0;  ///< this machine's clock minus the daemon's
  double uncertainty_s = std::numeric_limits<double>::infinity();

  /// From one request for the time. `asked_s`, `answered_s`: this machine's clock, in Unix seconds;
  /// the daemon read its clock between them. Its times are whole milliseconds, also in events.
  [[nodiscard]] static ClockOffset of(double asked_s, double answered_s,
                                      wire::UnixMs daemon_ms) noexcept {
    constexpr double kHalfResolutionS = 0.0005;
    const double daemon_s = 1e-3 * static_cast<double>(daemon_ms);
    return {.offset_s = (asked_s + answered_s) / 2 - daemon_s,
            .uncertainty_s = (answered_s - asked_s) / 2 + kHalfResolutionS};
  }
};

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

/// Threads: one at a time.
class View {
 public:
  explicit View(const std::vector<Server>& servers);
  View(View&&) noexcept = default;
  View& operator=(View&&) noexcept = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() = default;

  /// Allocates only for a new device. `slot`: the device of `update.slot`.
  void apply(const Update& update, const Slot& slot);

  [[nodiscard]] const PowerSnapshot& readings() const noexcept { return readings_; }
  [[nodiscard]] PowerReadings& server(std::size_t place) noexcept { return *servers_[place]; }

 private:
  /// Pointers to a device's values. All null: the device has none yet.
  struct DeviceValues {
    double* time_s = nullptr;
    Watts* gpu = nullptr;
    CpuPowerReading* cpu = nullptr;
  };

  [[nodiscard]] static DeviceValues place_of(PowerReadings& server, const Slot& slot);
  static void forget(PowerReadings& server, const Slot& slot);

  PowerSnapshot readings_;
  std::vector<PowerReadings*> servers_;
  std::vector<DeviceValues> places_;  ///< by slot
};

}  // namespace wattle::client
