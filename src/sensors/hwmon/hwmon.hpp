// Power rails, meters and batteries that the kernel shows to every user: /sys/class/hwmon and
// /sys/class/power_supply. Facts, quirks and where they come from: docs/sensors/hwmon.md.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "sensors/hwmon/device.hpp"
#include "sensors/read_status.hpp"
#include "sensors/sensor.hpp"

namespace wattle::hwmon {

/// The files of a channel, open for reading.
struct ChannelFiles {
  Fd value;
  std::array<Fd, 2> less{};  ///< empty: there is none
  Fd factor{};               ///< empty: there is none
  Fd status{};               ///< empty: there is none
  std::uint64_t divisor = 1;
  bool is_power = true;
};

/// The value of the files. Absent: none, a negative one, or another status.
[[nodiscard]] AttributeValue read_value(const ChannelFiles& source) noexcept;

/// A device whose files were opened, and read once.
struct OpenDevice {
  DeviceInfo info{};
  std::vector<Channel> channels{};
  std::vector<ChannelFiles> sources{};  ///< one for each channel
  std::vector<SensorRefusal> refused{};
};
/// Blocks for as long as the driver does.
[[nodiscard]] OpenDevice open_device(const HwmonDevice& device);

/// Threads: one at a time.
class ChipSensor final : public Sensor {
 public:
  ChipSensor(OpenDevice opened, const TimeSource& clock)
      : opened_(std::move(opened)), clock_(clock) {}

  [[nodiscard]] std::span<const Channel> channels() const noexcept override {
    return opened_.channels;
  }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &opened_.info; }
  /// A value can be a transfer on a slow bus, or a method that the firmware runs.
  [[nodiscard]] bool may_block() const noexcept override { return true; }

 private:
  const OpenDevice opened_;
  const TimeSource& clock_;
};

/// One sensor for each chip or battery that shows anything. They are opened and read at the same
/// time, each in a thread of its own; without such devices there is no thread. One that has not
/// answered by the deadline is refused. No other interface shows these domains, so none is `taken`.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken);
/// `open`: what is done in those threads.
[[nodiscard]] Survey probe_within(
    const System& system, const TimeSource& clock, std::chrono::nanoseconds deadline,
    const std::function<OpenDevice(const HwmonDevice&)>& open = open_device);

}  // namespace wattle::hwmon
