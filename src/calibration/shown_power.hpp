// A sensor's power as a meter with a given timing shows it.
#pragma once

#include <vector>

#include "calibration/meter_rows.hpp"

namespace wattle {

/// Which of a meter's rows are used.
using KnownRows = std::vector<bool>;

/// A sensor's power as the meter shows it at each of its rows, and how fast that changes.
struct ShownPower {
  std::vector<double> power_w;  ///< not a number where unknown
  std::vector<double> rate_w;   ///< per second

  /// Takes out the rows at which this is unknown.
  void restrict(KnownRows& rows) const;
};

using ShownPowers = std::vector<ShownPower>;  ///< of each sensor

/// `late_s`: by how much the sensor is later than the meter, besides `timing`.
[[nodiscard]] ShownPower shown_power(const MeterRows& meter, const PowerCurve& power,
                                     const MeterTiming& timing, double late_s);

/// A clear change of a sensor's power.
struct SensorStep {
  double time_s = 0.0;
  double size_w = 0.0;
};

/// The largest ones, at most 40, apart from each other.
[[nodiscard]] std::vector<SensorStep> clear_steps(const PowerCurve& power);

/// A step of 1 W at `at_s` as the meter shows it at each of its rows.
[[nodiscard]] std::vector<double> shown_step(const MeterRows& meter, double at_s,
                                             const MeterTiming& timing);

}  // namespace wattle
