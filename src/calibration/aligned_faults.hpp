// A meter beside the sensors of a run, with the sensors that are late or show what did not happen.
#pragma once

#include <cstddef>
#include <vector>

#include "calibration/alignment.hpp"
#include "calibration/gain_estimates.hpp"
#include "calibration/meter_rows.hpp"

namespace wattle {

/// A fault that explains the meter beyond doubt.
struct FoundFault {
  double lag_s = 0.0;  ///< later than the others by this
  bool is_unrelated = false;
  std::size_t missed_steps = 0;  ///< by the meter, of `clear_steps`, where it is unrelated
  std::size_t clear_steps = 0;
};

/// Threads: a value type.
struct FaultyAlignment {
  std::vector<RecordedDomainPower> used;  ///< those that are late moved to their time
  MeterAlignment alignment;
  std::vector<FoundFault> faults;  ///< of each of `used`
};

/// With all sensors right: see `aligned`.
[[nodiscard]] FaultyAlignment without_faults(const std::vector<MeterSample>& meter,
                                             std::vector<RecordedDomainPower> used,
                                             const ShiftRange& range);

/// Adds the faults. Requires an alignment without a problem. More than 16 sensors are taken to be
/// right: the search would take minutes.
[[nodiscard]] FaultyAlignment with_faults(const std::vector<MeterSample>& meter,
                                          FaultyAlignment now, const ShiftRange& range);

[[nodiscard]] GainEstimates gain_estimates(const FaultyAlignment& found);

}  // namespace wattle
