// The clock of an external meter, and how late each sensor is.
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

/// A time difference and its ± (95 %).
struct DomainLag {
  double lag_s = 0.0;
  double uncertainty_s = 0.0;
  /// Another lag than the common one makes the fit better than chance does, in most parts of the
  /// run.
  bool is_moved = false;
};

struct MeterAlignment {
  MeterTiming timing;
  MeterRows rows;               ///< of the meter
  std::vector<DomainLag> lags;  ///< of each domain, against what most of them show
  /// Watts at the meter for each of a domain, by most of its steps.
  std::vector<double> gains;
  double noise_w = 0.0;  ///< of the meter, about
  /// The part of the meter's variance that the domains explain.
  double explained = 0.0;
  std::string problem;  ///< why there is none; else empty
};

/// How many rows apart changes of power are taken: 1.5 s, at least 2 rows.
[[nodiscard]] std::size_t change_rows(const MeterRows& meter) noexcept;

/// Finds the shift by cross-correlation (the best fit of all domains together, at each shift of
/// `range`), the window and lag of the meter, and then each domain's own lag. Requires domains that
/// vary, and at least 10 rows.
[[nodiscard]] MeterAlignment aligned(std::vector<MeterSample> meter,
                                     std::span<const RecordedDomainPower> domains,
                                     const ShiftRange& range);

}  // namespace wattle
