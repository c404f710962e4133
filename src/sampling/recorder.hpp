// Reads channels of one device into their histories.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sampling/device_questions.hpp"
#include "sampling/history.hpp"
#include "sensors/sensor.hpp"
#include "wattle/export.hpp"

namespace wattle {

/// Several recorders can share a sensor whose class says that it may be read by several threads.
/// Threads: `read`, `note_suspend`, `set_period` one at a time (the reader's); the
/// histories say for themselves.
class Recorder {
 public:
  /// `channels`: those that are read, bit i for `sensor->channels()[i]`.
  Recorder(std::shared_ptr<Sensor> sensor, ChannelSet channels, const HistoryOptions& options);

  /// Reads each channel once. Allocates nothing.
  void read() noexcept;
  /// The same, but takes readings of its device that are at most this old.
  void read(NewestReadings& device, std::chrono::nanoseconds longest_age) noexcept;
  void note_suspend() noexcept;
  void set_period(std::chrono::nanoseconds period) noexcept;

  [[nodiscard]] const std::shared_ptr<Sensor>& sensor() const noexcept { return sensor_; }
  /// One for each channel that is read, in their order.
  [[nodiscard]] const std::deque<History>& histories() const noexcept { return histories_; }

 private:
  void take() noexcept;

  std::shared_ptr<Sensor> sensor_;
  ChannelSet channels_;
  std::vector<std::size_t> places_;  ///< of each history's channel among the sensor's
  std::vector<Reading> readings_;    ///< one for each channel of the sensor, reused
  std::deque<History> histories_;    ///< they do not move
};

/// Reports whether the machine was suspended since it was last asked. Threads: one at a time.
class WATTLE_EXPORT SuspendWatch {
 public:
  explicit SuspendWatch(const TimeSource& clock) noexcept
      : clock_(clock), suspended_(clock.suspended()) {}
  [[nodiscard]] bool was_suspended() noexcept;

 private:
  const TimeSource& clock_;
  std::chrono::nanoseconds suspended_;
};

}  // namespace wattle
