// A device that several read, each at a rate of its own.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// One reader of a device. Who reads at equal times takes what another reader got within half a
/// period, so the device is read about as often as the fastest of them asks. Readings allocate
/// nothing. Threads: all readers of a device one at a time, in the device's thread.
class SharedSensor final : public ForwardingSensor {
 public:
  /// The first reader: its readings always come from the device. `clock` outlives it.
  SharedSensor(std::shared_ptr<Sensor> sensor, const TimeSource& clock)
      : ForwardingSensor(sensor),
        device_(std::make_shared<SharedDevice>(std::move(sensor), clock)) {}
  /// Another reader of the same device, every `period`; 0: it always asks the device too.
  SharedSensor(const SharedSensor& other, std::chrono::nanoseconds period)
      : ForwardingSensor(other), device_(other.device_), longest_age_(period / 2) {}

  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  struct SharedDevice {
    SharedDevice(std::shared_ptr<Sensor> of, const TimeSource& time)
        : sensor(std::move(of)), clock(time), last(sensor->channels().size()), got(last.size()) {}

    std::shared_ptr<Sensor> sensor;
    const TimeSource& clock;
    std::vector<Reading> last;  ///< of each channel; before the first its time is the epoch
    std::vector<Reading> got;   ///< reused
  };

  std::shared_ptr<SharedDevice> device_;
  std::chrono::nanoseconds longest_age_{0};
};

}  // namespace wattle
