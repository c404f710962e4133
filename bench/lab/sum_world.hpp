// Sums of runs and of boards: what a sensor is late by, it is late by in each run of the kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/world.hpp"

namespace wattle::lab {

/// Runs whose energies are added up.
struct SumCell {
  std::string_view sensor;
  std::string_view kind;
  Machine machine;
  /// Run i of board k has the load (i + k) mod 2 of these; a run may be of one load alone.
  std::vector<Load> loads;
  double window_s = 0.01;
  std::size_t runs = 1;    ///< on one board, one after the other
  std::size_t boards = 1;  ///< each of them with a pace of its own
  /// The counter is read 3 updates before the begin of each run too.
  bool is_read_before = true;
  /// The counter is read at its own pace, from 10 updates before the begin.
  bool is_followed = false;
  /// The counter is read on after the end, as `wattle run` does (see `reading_on`).
  bool is_read_on = false;
  /// Its update interval was observed; otherwise what is published is believed.
  bool is_observed = true;
  /// All runs start, and end, at the same phases of the sensor's updates.
  bool is_in_step = false;

  [[nodiscard]] std::string name() const;
  /// Why the ± is not promised to hold; empty where it is.
  [[nodiscard]] std::string_view limit() const;
};

/// All cells: counters of processors and of GPUs, and gauges; 1 to `most_runs` runs, 1 to 64
/// boards; runs in step with the sensor.
[[nodiscard]] std::vector<SumCell> sum_cells(std::size_t most_runs);

/// All are parts: of the true sum, but for the first.
struct SumResult {
  double coverage = 0.0;           ///< of all trials: the truth lies within the ±
  double median_half_width = 0.0;  ///< the ±
  double mean_error = 0.0;         ///< signed
  double mean_error_of_raw = 0.0;  ///< the same of what the sensors show, added up
  double p95_of_raw = 0.0;         ///< of its size
  double in_step = 0.0;            ///< of all trials: the flag `in_step`
  double unseen = 0.0;             ///< the same: `ends_unseen`
  /// How much wider the ± is than that.
  [[nodiscard]] double width() const noexcept { return median_half_width / p95_of_raw; }
};

/// The same `seed` gives the same result.
[[nodiscard]] SumResult simulate_sums(const SumCell& cell, std::size_t trials, std::uint64_t seed);

/// Two commands on one board, which take turns: how often the interval of `wattle bench` holds the
/// true ratio of their energies.
struct ComparedCells {
  double coverage = 0.0;
  double median_half_width = 0.0;  ///< of the logarithm of the ratio
  double median_common = 0.0;      ///< the part of that which comes back in each run
};
/// `a`, `b`: on the same machine, as many runs of each.
[[nodiscard]] ComparedCells simulate_comparisons(const SumCell& a, const SumCell& b,
                                                 std::size_t trials, std::uint64_t seed);

}  // namespace wattle::lab
