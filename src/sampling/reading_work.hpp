// Which sensors are read together, how often, and how much is kept. `Readings` reads it.
//
//   sensors that answer at once:   in the caller's thread
//   each device that may block:    a lane of its own
//   its costly channels:           a second, slow lane of its own, once a second; its processes
//                                  too, every `list_period`
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sampling/lane.hpp"

namespace wattle {

struct ReadingsOptions {
  /// How often the lanes read power. A driver is never asked more than ten times a second unless
  /// this is shorter.
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  /// Read beside energy and power, every `metric_period` and when lanes are asked; costly ones once
  /// a second.
  std::vector<Metric> metrics{};
  /// The default is twice in the 0.2 s in which an H100 renews its utilization, each value of a
  /// part of these alone.
  std::chrono::nanoseconds metric_period = std::chrono::milliseconds(100);
  /// Devices are read when `read_lanes` asks, about every `period`, and not by themselves.
  bool only_when_asked = false;
  /// Ask devices every `list_period` which processes use them.
  bool lists_processes = false;
  std::chrono::nanoseconds list_period = std::chrono::seconds(1);
  /// Report the energy of these only; absent: of every domain that the sensors know.
  std::optional<std::vector<Domain>> domains{};
  /// Sensors for which there is no memory or no thread are left out (`take_left_out`); otherwise
  /// the constructor throws.
  bool keeps_going = false;
  /// The most memory of the history of a counter that answers at once, in bytes. Histories are
  /// shorter if there is not enough memory.
  std::size_t prompt_history_bytes = HistoryOptions{}.memory_limit;
};

/// The longest period of a driver that takes too much time to answer.
inline constexpr std::chrono::nanoseconds kLongestPeriod = std::chrono::milliseconds(800);

/// The whole periods in `length`, at least 1.
[[nodiscard]] constexpr unsigned ticks_in(std::chrono::nanoseconds length,
                                          std::chrono::nanoseconds period) noexcept {
  return static_cast<unsigned>(std::max<std::int64_t>(1, length / period));
}

/// The tasks of one lane, or of the caller's thread.
struct ReadingWork {
  LaneOptions lane{};
  bool is_prompt = false;         ///< `Readings::read` reads it, not a lane
  bool is_slow = false;           ///< for a slow lane; comes after the device's other work
  std::vector<LaneTask> tasks{};  ///< of a lane one at least

  /// Adds channels that are read every `every` ticks. Each of the histories takes `bytes` at most;
  /// throws `std::bad_alloc` if there is not enough memory.
  const std::deque<History>& add(const std::shared_ptr<Sensor>& sensor, ChannelSet channels,
                                 std::size_t bytes, unsigned every = 1);
};

/// The channels to read of a sensor. Histories are shorter if there is not enough memory.
[[nodiscard]] std::vector<ReadingWork> work_of(const std::shared_ptr<Sensor>& sensor,
                                               const ReadingsOptions& options);

}  // namespace wattle
