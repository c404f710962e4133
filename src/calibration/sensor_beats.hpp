// The beats between two levels that a sensor shows of a load that it samples too rarely.
#pragma once

#include <cstddef>
#include <vector>

#include "calibration/shown_power.hpp"

namespace wattle {

/// Steps of one size, up and down in turn. A meter sees a constant power instead, between the two
/// levels.
struct BeatRun {
  std::vector<SensorStep> steps;  ///< in order of time
  /// For how long the sensor shows a wrong level before the first step and after the last one. 0:
  /// the load starts or ends with that step.
  double before_s = 0.0;
  double after_s = 0.0;

  [[nodiscard]] double size_w() const noexcept;
  /// The steps that the meter does not see at all.
  [[nodiscard]] std::size_t missed() const noexcept;
  /// The power that the sensor shows too much, as steps from 0 and back to it.
  [[nodiscard]] std::vector<SensorStep> error() const;
  /// 1 from start to end, as steps.
  [[nodiscard]] std::vector<SensorStep> extent() const;
};

/// Runs of about the same size, in order of time.
struct SensorBeats {
  double half_s = 0.0;  ///< the usual time from a step to the next
  std::vector<BeatRun> runs;
};

/// The sets of runs that may be beats, those of most steps first.
[[nodiscard]] std::vector<SensorBeats> possible_beats(std::vector<SensorStep> steps);

}  // namespace wattle
