// An external meter beside a recorded run: which sensor disagrees, and by how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibration/alignment.hpp"
#include "calibration/gain_estimates.hpp"
#include "calibration/meter_rows.hpp"

namespace wattle {

enum class SensorVerdict : std::uint8_t { agrees, disagrees, unknown };
enum class SensorFault : std::uint8_t {
  none,
  unit,       ///< its values are in another unit: a power of 1000 too large or small
  gain,       ///< a factor that no power supply explains
  stuck,      ///< the same value all the time
  late,       ///< later than the others by more than its values are apart
  unrelated,  ///< it shows changes that the meter does not see
};
[[nodiscard]] const char* to_string(SensorVerdict verdict) noexcept;
/// "unit", "gain" ...; "" for none.
[[nodiscard]] const char* to_string(SensorFault fault) noexcept;

struct CalibratedDomain {
  std::string name;
  SensorVerdict verdict = SensorVerdict::unknown;
  SensorFault fault = SensorFault::none;
  /// Watts at the meter for each watt that the sensor shows; absent where that is unknown.
  std::optional<CalibratedNumber> gain{};
  /// By how much it is later than most sensors; absent where that is unknown.
  std::optional<CalibratedNumber> lag_s{};
  /// Why it disagrees, or is unknown and what would show it; empty where it agrees.
  std::string reason{};
};

/// The part of the meter's power that arrives at the devices: between these two.
struct SupplyEfficiency {
  double least = 0.75;
  double most = 1.0;
  bool is_stated = false;  ///< by the user
};

struct CalibrationOptions {
  ShiftRange shift{.least_s = -60.0, .most_s = 60.0};
  SupplyEfficiency efficiency{};
};

struct MeterCalibration {
  /// Why there is no number at all, and what to do; else empty.
  std::string problem;
  std::size_t rows = 0;   ///< of the meter that lie within the run
  double length_s = 0.0;  ///< of the run that they cover
  double period_s = 0.0;  ///< of the meter
  MeterTiming timing{};
  double explained = 0.0;  ///< part of the meter's variance
  /// Power that the meter sees and no domain covers: fans, disks, losses.
  std::optional<CalibratedNumber> offset_w{};
  /// The median of the domains' gains: one by efficiency, for a meter at the wall.
  std::optional<CalibratedNumber> common_gain{};
  std::vector<CalibratedDomain> domains;
  /// The energy at the meter of the domains in `total_of`, from their sensors and gains.
  std::optional<CalibratedNumber> total_j{};
  std::vector<std::string> total_of{};
};

/// Compares. `domains`: those that do not overlap each other.
[[nodiscard]] MeterCalibration calibrated(const std::vector<MeterSample>& meter,
                                          const std::vector<RecordedDomainPower>& domains,
                                          const CalibrationOptions& options);

/// The largest error, in percent of what the sensor shows, that its gain and the efficiency leave
/// possible; absent where its gain is unknown, or the sensor late, stuck or unrelated.
[[nodiscard]] std::optional<double> sensor_error_percent(const CalibratedDomain& domain,
                                                         const SupplyEfficiency& efficiency);

}  // namespace wattle
