// Which steps of a sensor's power the meter sees.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibration/meter_rows.hpp"

namespace wattle {

/// Counts the clear steps of one domain: those larger than the noise and than what the others do at
/// that time.
struct StepResponses {
  std::size_t seen = 0;
  std::size_t missed = 0;  ///< the meter shows less than half of them
  /// How many would be missed because something without a sensor changes at the same time.
  double missed_by_chance = 0.0;

  /// True if it misses enough of them to show changes that did not happen.
  [[nodiscard]] bool accuses() const noexcept;
};

/// The responses of each domain. `gains`: watts at the meter for each watt of a sensor, at least
/// roughly.
[[nodiscard]] std::vector<StepResponses> step_responses(const AlignedRows& rows, std::size_t apart,
                                                        std::span<const double> gains);

}  // namespace wattle
