// The energy of one counter between a first and a last reading, built up while time passes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sampling/counter.hpp"
#include "sampling/flags.hpp"
#include "sensors/sensor.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// An energy with everything that must be said about it.
struct EnergyFigure {
  /// Sum over the stretches that are known: a lower bound where `unknown` is above 0. Absent
  /// where nothing is known.
  std::optional<Joules> energy;
  Joules uncertainty;         ///< of the measuring process, k = 2
  Seconds unknown{0};         ///< time inside the window whose energy is not known
  std::optional<Watts> mean;  ///< over the known time; absent where that is shorter than an update
  std::optional<Watts> max;   ///< highest mean over one interval; absent under two intervals
  std::string_view method = "counter";
  Flags flags;
};

/// Takes the readings of one counter and keeps what a figure needs: a few numbers, however long
/// it lasts. `add` allocates nothing. Threads: one at a time.
class EnergyWindow {
 public:
  explicit EnergyWindow(const Channel& channel) noexcept;

  /// Takes the next reading. `ends_interval`: one of the equal intervals that `max` looks at ends
  /// with it.
  void add(const Reading& reading, bool ends_interval) noexcept;

  /// The machine was suspended since the last reading: what the counter did is unknown.
  void note_suspend() noexcept;

  /// Mean power over the last interval that ended; absent where part of it is unknown.
  [[nodiscard]] std::optional<Watts> interval_power() const noexcept { return interval_power_; }

  /// The figure of the window from `begin` to `end`, which the first and the last reading should
  /// enclose; what they do not is unknown.
  [[nodiscard]] EnergyFigure figure(TimePoint begin, TimePoint end) const noexcept;

 private:
  void take_step(const CounterStep& step, std::chrono::nanoseconds elapsed) noexcept;
  void end_interval(TimePoint at) noexcept;
  [[nodiscard]] Joules energy_of(std::uint64_t ticks) const noexcept;

  CounterTraits traits_;
  UpdateInterval update_;
  CounterUnwrap unwrap_;

  bool started_ = false;
  Reading first_;
  Reading last_;
  std::uint64_t ticks_ = 0;
  std::chrono::nanoseconds known_{0};
  std::chrono::nanoseconds unknown_{0};
  Flags flags_;

  TimePoint interval_begin_;
  std::uint64_t interval_begin_ticks_ = 0;
  bool interval_known_ = true;
  int intervals_ = 0;
  std::optional<Watts> interval_power_;
  std::optional<Watts> first_power_;
  std::optional<Watts> last_power_;
  std::optional<Watts> max_;
};

}  // namespace wattle
