// The sensor whose fault explains a meter best, and the gains that do.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "calibration/meter_rows.hpp"

namespace wattle {

/// A possible fault of one sensor.
struct SensorSuspicion {
  std::size_t domain = 0;
  /// By how much it is later than the others; absent: the meter does not see the steps it shows.
  std::optional<double> lag_s{};
  /// How many of its steps the meter shows clearly, or clearly not; and how many it does not.
  std::size_t clear_steps = 0;
  std::size_t missed_steps = 0;
  /// The logarithm of how much more likely the meter's rows are than with all sensors right.
  double evidence = 0.0;
};

/// A meter beside sensors, with what is known of them before the search. Refers to all of it.
struct MeterBeside {
  const MeterRows& meter;
  std::span<const RecordedDomainPower> domains;
  MeterTiming timing;  ///< of the meter, about
  /// Watts at the meter for each watt of a sensor, to a factor of 30.
  std::span<const double> gains;
};

/// The likeliest fault of each domain.
[[nodiscard]] std::vector<SensorSuspicion> sensor_suspicions(const MeterBeside& beside);

/// The sensor whose fault explains the meter beyond doubt, and clearly better than a fault of
/// another one does.
[[nodiscard]] std::optional<SensorSuspicion> clear_suspicion(
    std::vector<SensorSuspicion> suspicions);

/// The gains that explain the meter best.
struct FittedGains {
  MeterTiming timing;
  std::vector<double> gains;
  /// Independent errors: each a change of all gains, of one standard error. Their squares add up.
  std::vector<std::vector<double>> errors;
};

/// `unrelated`: a domain whose steps the meter does not see.
[[nodiscard]] FittedGains fitted_gains(const MeterBeside& beside,
                                       std::optional<std::size_t> unrelated);

}  // namespace wattle
