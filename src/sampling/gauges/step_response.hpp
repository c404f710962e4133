// The part of the time that a gauge of power sees, found from a load that turns on and off beside
// an energy counter.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// A value, when it was read first.
struct TimedValue {
  double at_s = 0.0;
  double value = 0.0;
};

/// A gauge that was watched while its load turned on and off.
struct GaugeWindowFound {
  double update_s = 0.0;  ///< how often the gauge is renewed
  double window_s = 0.0;  ///< that each of its values is the mean of
  double window_uncertainty_s = 0.0;
  std::size_t steps = 0;  ///< of the load

  [[nodiscard]] double coverage() const noexcept;
  [[nodiscard]] double coverage_uncertainty() const noexcept {
    return window_uncertainty_s / update_s;
  }
};

/// Either the window, or why it is not known.
struct GaugeWindowAnswer {
  std::optional<GaugeWindowFound> found{};
  std::string_view reason{};  ///< part of a sentence; empty where it was found
};

/// A load steps between two powers; it stays at each for longer than two updates of counter and
/// gauge, and its steps are at no special phase of theirs.
///
/// The counter (in J) shows when each step took place, better than it is renewed: what it counted
/// across the step is a part at the one power, and the rest at the other. Of a gauge (in W) that is
/// the mean over a window, a value that was made at the time x after the step shows the part
/// min(x / window, 1) of it. Window and delay are those that fit best; the ± (k = 2) is from
/// leaving tenths of the steps out.
///
/// A counter that adds up what the gauge shows does not see more than the gauge: too few of its
/// values lie between both powers. Then nothing is found, as if the load was in step with it.
///
/// Both lists have the values in order, each once, read much faster than they are renewed.
[[nodiscard]] GaugeWindowAnswer find_window(std::span<const TimedValue> counter,
                                            std::span<const TimedValue> gauge);

/// True for a gauge of power if nobody knows what part of the time it sees, and that can be found.
[[nodiscard]] bool is_window_open(const Channel& channel) noexcept;

/// A gauge beside a counter.
struct WatchedGauge {
  std::size_t channel = 0;  ///< of the gauge, among those of the sensor
  GaugeWindowAnswer answer{};
};

/// Reads a sensor for `length` with a millisecond between readings; its counter, and each gauge of
/// power for which no window is stated. Empty where it has no such gauge. `goes_on`: as of
/// `observe`.
[[nodiscard]] std::vector<WatchedGauge> watch_gauges(Sensor& sensor,
                                                     std::chrono::nanoseconds length,
                                                     const TimeSource& clock,
                                                     const std::function<bool()>& goes_on);

}  // namespace wattle
