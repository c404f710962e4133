// Reads all energy counters together and keeps one window for each. Gauges are left alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "sampling/energy_window.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// From its first `read` to its last it measures one window. Threads: one at a time.
class EnergyRecorder {
 public:
  EnergyRecorder(std::vector<std::unique_ptr<Sensor>> sensors, const Clock& clock);

  /// Reads every counter once. Allocates nothing. `ends_interval`: as for `EnergyWindow::add`.
  void read(bool ends_interval) noexcept;

  /// Mean power of the domains that make up a total over the last interval that ended; absent
  /// where there is none, or one of them is unknown.
  [[nodiscard]] std::optional<Watts> interval_power() const noexcept;

  /// The longest time between two reads that loses no wrap.
  [[nodiscard]] std::chrono::nanoseconds keeper_period() const noexcept;

  struct Result {
    Channel channel;
    EnergyFigure figure;
  };
  /// One result a counter, in the order of their domains.
  [[nodiscard]] std::vector<Result> results(TimePoint begin, TimePoint end) const;

 private:
  struct Counter {
    std::size_t channel;  ///< its place among the sensor's channels
    EnergyWindow window;
  };
  struct Device {
    std::unique_ptr<Sensor> sensor;
    std::vector<Counter> counters;
    ChannelSet wanted;              ///< the counters among the channels
    std::vector<Reading> readings;  ///< one for each channel, reused

    [[nodiscard]] const Channel& channel_of(const Counter& counter) const noexcept {
      return sensor->channels()[counter.channel];
    }
  };

  std::vector<Device> devices_;
  const Clock& clock_;
  std::chrono::nanoseconds suspended_;
};

}  // namespace wattle
