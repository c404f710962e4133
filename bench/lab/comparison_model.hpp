// Benchmarks of two commands whose true energies are known: what a sensor shows of each run.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lab/random.hpp"

namespace wattle::lab {

/// What makes runs differ. All sizes are parts of the energy of a run.
struct Disturbance {
  std::string_view name;
  double noise = 0.02;           ///< standard deviation from run to run
  double autocorrelation = 0.0;  ///< of one run with the next
  double drift = 0.0;            ///< from the first run to the last
  double outliers = 0.0;         ///< the part of all runs that is disturbed, by 10 to 100 %
  bool one_in_ten = false;       ///< one run of B in ten is disturbed, and none of A
  bool is_skewed = false;        ///< noise that only adds
  double sampling = 0.0;         ///< standard deviation of the measurement of each run
};

/// The disturbances that the results are promised for, and worse ones.
[[nodiscard]] std::vector<Disturbance> disturbances();

/// One benchmark: what was measured of A and of B in each round.
struct SimulatedBench {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> errors_a;  ///< standard uncertainties that the sensor states
  std::vector<double> errors_b;
};

/// A takes 100 J, B takes `ratio` times that. In each round chance decides which comes first. A
/// calibration error of up to 5 % is common to all runs.
[[nodiscard]] SimulatedBench simulate(const Disturbance& disturbance, std::size_t rounds,
                                      double ratio, Random& random);

/// A normal random number with mean 0 and standard deviation 1.
[[nodiscard]] double normal(Random& random);

}  // namespace wattle::lab
