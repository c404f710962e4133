// Reads the counters of one node.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/read_status.hpp"
#include "sensors/sensor.hpp"

namespace wattle::cray {

/// The file of a channel, open for reading.
struct CounterFile {
  Fd file;
  std::string_view unit;    ///< "J" or "W"
  std::uint64_t at_us = 0;  ///< of the value that was read last, as the file states it
  TimePoint renewed{};      ///< when another time was first seen there
};

/// Reads a value, and keeps when it was taken.
[[nodiscard]] AttributeValue read_value(CounterFile& counter) noexcept;

/// A value whose time has stayed as it was for `kOldest` is `stale`: the controller does not answer
/// the node any more. Threads: one at a time.
class NodeSensor final : public Sensor {
 public:
  /// Ten of the controller's looks.
  static constexpr std::chrono::nanoseconds kOldest = std::chrono::seconds(1);

  NodeSensor(std::vector<Channel> channels, std::vector<CounterFile> files,
             const TimeSource& clock);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  const std::vector<Channel> channels_;
  std::vector<CounterFile> files_;
  const TimeSource& clock_;
};

}  // namespace wattle::cray
