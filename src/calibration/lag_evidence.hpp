// Whether a sensor is late, and by how much at least.
#pragma once

#include <span>
#include <vector>

#include "calibration/meter_rows.hpp"

namespace wattle {

/// True where `after` fits the meter better than `before` beyond chance: also without the parts of
/// the run that show it best. Both are changes; `gains` and `noise_w`: see `robust_fit`.
[[nodiscard]] bool fits_better(const AlignedRows& before, const AlignedRows& after,
                               std::span<const double> gains, double noise_w);

/// The ± (95 %) of each domain's lag, in seconds. `step_s`: a small change of a lag.
[[nodiscard]] std::vector<double> lag_uncertainties(const MeterRows& meter,
                                                    std::span<const RecordedDomainPower> domains,
                                                    const MeterTiming& timing,
                                                    std::span<const double> lags_s, double step_s);

}  // namespace wattle
