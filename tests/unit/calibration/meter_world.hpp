// A machine of five sensors beside an external meter, of which one sensor may be wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibration/calibration.hpp"

namespace wattle::test {

enum class WrongSensor : std::uint8_t { none, unit, stuck, late, aliasing };

struct MeterWorldOptions {
  WrongSensor wrong = WrongSensor::none;
  double length_s = 60.0;
  double period_s = 0.0;  ///< of the meter; 0: one of 0.1 to 1 s
};

struct MeterWorld {
  std::vector<MeterSample> meter;
  std::vector<RecordedDomainPower> domains;
  std::string culprit;           ///< "" for none
  std::vector<double> energy_j;  ///< the truth of each domain, at the meter
  double shift_s = 0.0;
};

[[nodiscard]] MeterWorld meter_world(std::uint64_t seed, const MeterWorldOptions& options);

}  // namespace wattle::test
