// The clock of an external meter, and how it takes means.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibration/meter_rows.hpp"

namespace wattle {

/// Which shifts of the meter's clock are possible.
struct ShiftRange {
  double least_s = 0.0;
  double most_s = 0.0;
};

struct MeterAlignment {
  MeterTiming timing;
  MeterRows rows;  ///< of the meter
  /// Watts at the meter for each of a domain, by most of its steps.
  std::vector<double> gains;
  /// How well each domain's time is known against that of the others: ± (95 %).
  std::vector<double> lag_uncertainties_s;
  std::string problem;  ///< why there is none; else empty
};

/// How many rows apart changes of power are taken: 1.5 s, at least 2 rows.
[[nodiscard]] std::size_t change_rows(const MeterRows& meter) noexcept;

/// Finds the shift by cross-correlation (the best fit of all domains together, at each shift of
/// `range`), then the window and lag of the meter. Requires domains that vary.
[[nodiscard]] MeterAlignment aligned(std::vector<MeterSample> meter,
                                     std::span<const RecordedDomainPower> domains,
                                     const ShiftRange& range);

}  // namespace wattle
