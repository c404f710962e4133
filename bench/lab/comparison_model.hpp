// Benchmarks of two commands whose true energies are known: what a sensor shows of each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lab/random.hpp"

namespace wattle::lab {

/// How the energies of runs are distributed.
enum class Spread : std::uint8_t {
  normal,     ///< of the logarithm
  skewed,     ///< noise that only adds
  heavy,      ///< Pareto's distribution: seldom, runs take many times as much
  two_kinds,  ///< such as runs with a turbo and without: 30 % apart, each with a little noise
  discrete,   ///< a clock that ticks: 3, 4 or 5 units
};

/// What makes runs differ. All sizes are parts of the energy of a run.
struct Disturbance {
  std::string_view name;
  double noise = 0.02;           ///< standard deviation from run to run
  double autocorrelation = 0.0;  ///< of one run with the next
  double drift = 0.0;            ///< from the first run to the last
  double drift_a_run = 0.0;      ///< from each run to the next
  double outliers = 0.0;         ///< the part of all runs that is disturbed, by 10 to 100 %
  bool has_one_outlier = false;  ///< one run of A, by 50 %
  Spread spread = Spread::normal;
  double second_kind = 0.0;    ///< the part of all runs that is of the other kind
  double second_factor = 1.3;  ///< what that takes by the first kind
  bool is_a_steady = false;    ///< A has one kind, with the mean of B's two
  /// False: all runs of A first, as in two files.
  bool takes_turns = true;
  double sampling = 0.0;  ///< standard deviation of the measurement of each run

  /// The machine changes while it runs: commands must take turns.
  [[nodiscard]] bool needs_rounds() const noexcept {
    return drift > 0.0 || drift_a_run > 0.0 || autocorrelation > 0.0;
  }
};

/// The disturbances that the results are promised for, and worse ones.
[[nodiscard]] std::vector<Disturbance> disturbances();

/// B has a kind of run that A lacks, and the same mean.
[[nodiscard]] Disturbance unlike_kinds();
/// 2 % a run, all runs of A first.
[[nodiscard]] Disturbance drift_without_turns();

/// One benchmark: what was measured of A and of B in each round.
struct SimulatedBench {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> errors_a;  ///< standard uncertainties that the sensor states
  std::vector<double> errors_b;
};

/// A takes 100 J, B takes `ratio` times that. In each round chance decides which comes first, where
/// commands take turns. A calibration error of up to 5 % is common to all runs.
[[nodiscard]] SimulatedBench simulate(const Disturbance& disturbance, std::size_t rounds,
                                      double ratio, Random& random);

}  // namespace wattle::lab
