// The sensor whose fault explains a meter best.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "calibration/meter_model.hpp"

namespace wattle {

/// A possible fault, and what speaks for it.
struct SensorSuspicion {
  SensorFaultOf fault;
  /// How many of its steps the meter shows clearly, or clearly not; and how many it does not.
  std::size_t clear_steps = 0;
  std::size_t missed_steps = 0;
  /// The logarithm of how much more likely the meter's rows are than with all sensors right.
  double evidence = 0.0;
};

/// The likeliest fault of each domain.
[[nodiscard]] std::vector<SensorSuspicion> sensor_suspicions(const MeterBeside& beside);

/// The sensor whose fault explains the meter beyond doubt, and clearly better than a fault of
/// another one does.
[[nodiscard]] std::optional<SensorSuspicion> clear_suspicion(
    std::vector<SensorSuspicion> suspicions);

}  // namespace wattle
