// The energy of a device while it is followed.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/worker.hpp"
#include "sampling/energy_figure.hpp"
#include "sampling/history.hpp"
#include "sensors/sensor.hpp"

namespace wattle::daemon {

/// Reads a device on request, in the device's thread, and keeps for an hour what gives energy.
/// Threads: the loop's.
class FollowedDevice {
 public:
  static constexpr std::chrono::milliseconds kPeriod{100};
  /// A channel's history holds readings of 7 bytes each for at least this long.
  static constexpr std::chrono::minutes kKept{60};

  /// `thread`: the only one that reads `sensor`; null for a sensor that does not block. `clock`
  /// outlives the thread.
  FollowedDevice(const std::shared_ptr<Sensor>& sensor, std::shared_ptr<Worker> thread,
                 const TimeSource& clock);

  /// Reads it; does nothing while the last reading takes place. Call it every `kPeriod`: it slows
  /// down if the driver takes too long.
  void tick();

  /// The histories that show the energy of a domain.
  struct DomainHistories {
    Domain domain;
    const History* counter = nullptr;      ///< null: there is none
    std::vector<const History*> gauges{};  ///< of power

    [[nodiscard]] EnergyFigure energy(TimePoint begin, TimePoint end) const;
  };
  [[nodiscard]] const std::vector<DomainHistories>& sources() const noexcept { return sources_; }

 private:
  struct State;

  std::shared_ptr<State> state_;  ///< shared with the jobs of the thread
  std::shared_ptr<Worker> thread_;
  std::vector<DomainHistories> sources_;
  unsigned ticks_ = 0;
};

}  // namespace wattle::daemon
