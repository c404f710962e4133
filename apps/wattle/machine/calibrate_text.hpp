// The result of `wattle calibrate`, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "calibration/calibration.hpp"

namespace wattle::app {

/// The sensors and the meter that were compared.
struct CalibrationReport {
  std::string meter;      ///< the name of its file
  std::string column;     ///< its title; may be empty
  bool has_start = true;  ///< the meter's times are since 1970
  MeterCalibration calibration;
  SupplyEfficiency efficiency;
  std::vector<std::string> overlapping;  ///< domains that lie within others, or overlap them
  std::string kept;                      ///< the file; empty: not kept
};

[[nodiscard]] std::string calibration_text(const CalibrationReport& report);
/// One line, `wattle.calibrate/1`.
[[nodiscard]] std::string calibration_json(const CalibrationReport& report);
/// True where a sensor disagrees.
[[nodiscard]] bool has_disagreement(const MeterCalibration& calibration) noexcept;

}  // namespace wattle::app
