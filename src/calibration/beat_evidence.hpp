// How much more likely a meter's rows are if it does not see the beats that a sensor shows.
#pragma once

#include <cstddef>

#include "calibration/meter_model.hpp"

namespace wattle {

/// The likeliest beats of a sensor.
struct BeatEvidence {
  double likelihood = kImpossible;  ///< its logarithm, less what the choice among many costs
  std::size_t missed_steps = 0;     ///< by the meter
};

/// `rows`: known with `timing`. The result has no missed steps where no beats explain the meter.
[[nodiscard]] BeatEvidence beat_evidence(MeterModel& model, std::size_t domain,
                                         const MeterTiming& timing, const KnownRows& rows);

}  // namespace wattle
