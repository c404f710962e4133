// The calibration of a machine, kept for its later runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/calibration.hpp"

namespace wattle {

/// The calibration of one domain's sensor.
struct KeptSensor {
  std::string domain;
  double error_percent = 0.0;  ///< see `sensor_error_percent`
  CalibratedNumber gain{};     ///< watts at the meter for each watt of it

  friend bool operator==(const KeptSensor& a, const KeptSensor& b) noexcept {
    return a.domain == b.domain && a.error_percent == b.error_percent &&
           a.gain.value == b.gain.value && a.gain.uncertainty == b.gain.uncertainty;
  }
};

struct KeptCalibration {
  std::string host;
  double taken_unix_s = 0.0;  ///< the end of the run
  std::string meter;          ///< the name of its file, without folders
  std::vector<KeptSensor> sensors;
};

/// Keeps the sensors whose error is known.
[[nodiscard]] KeptCalibration kept_of(const MeterCalibration& calibration,
                                      const SupplyEfficiency& efficiency);

/// One line of JSON, `wattle.calibration/1`.
[[nodiscard]] std::string to_json(const KeptCalibration& calibration);
/// Absent where the text is none, or its figures are not possible.
[[nodiscard]] std::optional<KeptCalibration> parse_calibration(std::string_view text);

/// "compared with pdu.csv on 2026-11-24": the source of a `calibration_percent`.
[[nodiscard]] std::string source_text(const KeptCalibration& calibration);

/// The kept calibration of a host. Absent if there is none, or it cannot be read.
[[nodiscard]] std::optional<KeptCalibration> read_calibration(std::string_view host);

}  // namespace wattle
