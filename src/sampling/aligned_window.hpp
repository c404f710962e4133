// A window of a counter whose ends are moved to the counter's own updates.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "sampling/counter.hpp"
#include "sampling/energy_figure.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// A counter shows the energy up to its last update, which is up to one interval ago: over 10 ms
/// that is several percent. Here the window waits for an update before it begins and after it has
/// ended, reading all the time, and takes off again what was spent while it waited. That power is
/// measured over the updates just before the begin, under the same waiting. It pays where windows
/// are short; the waiting keeps a processor busy.
///
/// Threads: one at a time; the sensor is read by nobody else meanwhile.
class AlignedWindow {
 public:
  /// Counters that are renewed less often would be waited for too long.
  static constexpr std::chrono::nanoseconds kLongestUpdate = std::chrono::milliseconds(5);

  /// `channel`: of the sensor, an energy counter. Throws `InvalidArgument` where it is none, or is
  /// renewed less often than each `kLongestUpdate`. Sensor and clock outlive this object.
  AlignedWindow(Sensor& sensor, std::size_t channel, const Clock& clock);

  /// Waits for fifty updates, some fifty milliseconds; the window begins when this returns.
  void begin() noexcept;
  /// The window ends when this is called; waits for one update.
  [[nodiscard]] EnergyFigure end() noexcept;

 private:
  /// The counter's value, and when it was renewed: within `latency` before `seen_at`.
  struct Update {
    std::uint64_t ticks = 0;
    TimePoint seen_at;
    std::chrono::nanoseconds latency{0};

    [[nodiscard]] TimePoint at() const noexcept { return seen_at - latency / 2; }
  };
  /// Reads until the value changes; absent where it did not in three times the 99th percentile of
  /// its update interval, or where it cannot be told what happened.
  [[nodiscard]] std::optional<Update> next_update() noexcept;
  /// Reads once; false where there is no value, or one that does not follow from the last.
  bool read() noexcept;
  [[nodiscard]] EnergyFigure aligned(const Update& first, const Update& last,
                                     TimePoint end) const noexcept;
  [[nodiscard]] EnergyFigure plain(TimePoint end) const noexcept;
  [[nodiscard]] Joules energy_of(double ticks) const noexcept;

  Sensor& sensor_;
  std::size_t place_;
  const Channel& channel_;
  const Clock& clock_;
  std::vector<Reading> readings_;
  ChannelSet wanted_;
  CounterUnwrap unwrap_;
  Flags flags_;

  // The last reading.
  std::uint64_t ticks_ = 0;
  TimePoint read_at_;
  bool readable_ = false;

  std::optional<Update> first_;
  std::uint64_t first_ticks_ = 0;  ///< at the begin, aligned or not
  TimePoint begin_;
  Watts waiting_;              ///< power while waiting
  Watts waiting_uncertainty_;  ///< standard uncertainty of that
};

}  // namespace wattle
