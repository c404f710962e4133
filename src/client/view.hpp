// The readings of all servers, updated in small steps.
#pragma once

#include <vector>

#include "client/update.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client {

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
