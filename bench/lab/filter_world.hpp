// Gauges that follow the power through a filter that nobody has described, alone and beside a
// counter or an instant gauge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/waveform.hpp"

namespace wattle::lab {

/// A chain of `order` first-order lags, each of `rise_s` while its value rises and of `fall_s`
/// while it falls. Order 0: the mean over the last `rise_s`.
struct Filter {
  int order = 1;
  double rise_s = 1.0;
  double fall_s = 1.0;

  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool is_lopsided() const noexcept { return rise_s != fall_s; }
};

enum class Beside : std::uint8_t { nothing, counter, instant };

struct FilterCell {
  Filter filter;
  double update_s = 0.1;
  std::string_view load;
  double window_s = 10.0;
  Beside beside = Beside::nothing;

  [[nodiscard]] std::string name() const;
  /// Why the ± is not promised to hold the truth; empty where it is.
  [[nodiscard]] std::string_view limit() const;
};

[[nodiscard]] std::vector<FilterCell> filter_cells();

/// Parts of all trials, and of the true energy.
struct FilterResult {
  double coverage = 0.0;
  double median_half_width = 0.0;
  double p95 = 0.0;        ///< of the error's size
  double believed = 0.0;   ///< trials in which the average was what is reported
  double disagrees = 0.0;  ///< flagged so
  double unknown = 0.0;    ///< flagged `coverage_unknown`, or the flag of an alternative
};

/// The same `seed` gives the same result.
[[nodiscard]] FilterResult simulate_filter(const FilterCell& cell, std::size_t trials,
                                           std::uint64_t seed);

}  // namespace wattle::lab
