// A machine of five sensors beside an external meter, of which one sensor may be wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibration/calibration.hpp"

namespace wattle::test {

/// The first of the worlds by which results are counted: limits were tuned on others.
inline constexpr std::uint64_t kFirstWorld = 40'000;

enum class WrongSensor : std::uint8_t { none, unit, stuck, late, aliasing };

struct MeterWorldOptions {
  WrongSensor wrong = WrongSensor::none;
  double length_s = 60.0;
  double period_s = 0.0;  ///< of the meter; 0: one of 0.1 to 1 s
};

/// A row of the meter beside what is true of it: known to the world alone.
struct MeterRowTruth {
  double time_s = 0.0;  ///< of the world
  /// The power that the meter shows more than it would if the wrong sensor were right.
  double unseen_w = 0.0;
  double error_w = 0.0;           ///< independent of other rows, 1 standard deviation
  std::vector<double> devices_w;  ///< each device as the meter sees it
};

struct MeterWorld {
  std::vector<MeterSample> meter;
  std::vector<RecordedDomainPower> domains;
  std::string culprit;           ///< "" for none
  std::vector<double> energy_j;  ///< the truth of each domain, at the meter
  double shift_s = 0.0;
  double rest_w = 0.0;              ///< how much the power wanders that no sensor covers
  std::vector<MeterRowTruth> rows;  ///< of the meter within the run, while the sensors are known
};

[[nodiscard]] MeterWorld meter_world(std::uint64_t seed, const MeterWorldOptions& options);

}  // namespace wattle::test
