// Reads the energy events of one package: all of a group in one system call, at one time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/perf/pmu.hpp"
#include "sensors/perf/system_calls.hpp"
#include "sensors/sensor.hpp"

namespace wattle::perf {

/// An event that is open for counting.
struct OpenEvent {
  Channel channel;
  EventScale scale;
  Fd file;
};

/// Events that one read gives together. The first one leads.
using EventGroup = std::vector<OpenEvent>;

/// The read format for the events of a group, as `EventSensor` expects it.
inline constexpr std::size_t kMostInGroup = kEventNames.size();
[[nodiscard]] std::uint64_t group_read_format() noexcept;

/// Threads: one at a time.
class EventSensor final : public Sensor {
 public:
  /// No group is empty or has more than `kMostInGroup` events.
  EventSensor(std::vector<EventGroup> groups, const TimeSource& clock, const SystemCalls& calls);
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  struct OpenEvents {
    std::vector<Fd> files;
    std::vector<EventScale> scales;
    std::uint64_t running_ns = 0;  ///< how long the leader had counted at the last read
  };
  void read_group(OpenEvents& group, std::span<Reading> readings) noexcept;

  std::vector<Channel> channels_;
  std::vector<OpenEvents> groups_;
  const TimeSource& clock_;
  const SystemCalls& calls_;
};

}  // namespace wattle::perf
