#include "lab/comparison_model.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace wattle::lab {

double normal(Random& random) {
  // Box and Muller.
  return std::sqrt(random.exponential(2.0)) * std::cos(2.0 * std::numbers::pi * random.uniform());
}

std::vector<Disturbance> disturbances() {
  return {{.name = "noise"},
          {.name = "autocorrelation", .autocorrelation = 0.7},
          {.name = "autocorrelation, drift", .autocorrelation = 0.7, .drift = 0.1},
          {.name = "sampling error alone", .noise = 0.0, .sampling = 0.01},
          {.name = "sampling error as large as the noise", .noise = 0.01, .sampling = 0.01},
          {.name = "one run in ten an outlier", .outliers = 0.1},
          {.name = "one run of B in ten an outlier", .one_in_ten = true},
          {.name = "all of these",
           .noise = 0.015,
           .autocorrelation = 0.7,
           .drift = 0.1,
           .outliers = 0.1,
           .sampling = 0.01},
          {.name = "skewed noise", .is_skewed = true}};
}

SimulatedBench simulate(const Disturbance& disturbance, std::size_t rounds, double ratio,
                        Random& random) {
  constexpr double kEnergyOfA = 100.0;
  const double calibration = random.uniform(0.95, 1.05);
  const double direction = random.chance(0.5) ? 1.0 : -1.0;
  const auto runs = static_cast<double>(2 * rounds);
  const auto disturbed = static_cast<std::size_t>(random.uniform() * 10.0);
  double wandering = normal(random);
  double time = 0.0;
  SimulatedBench bench;
  for (std::size_t round = 0; round < rounds; ++round) {
    bool is_a = random.chance(0.5);
    for (int turn = 0; turn < 2; ++turn, is_a = !is_a, time += 1.0) {
      const double rho = disturbance.autocorrelation;
      wandering = rho * wandering + std::sqrt(1.0 - rho * rho) * normal(random);
      double part = disturbance.is_skewed ? random.exponential(1.0) : wandering;
      part = disturbance.noise * part + direction * disturbance.drift * time / runs;
      const bool is_outlier = random.chance(disturbance.outliers) ||
                              (disturbance.one_in_ten && !is_a && round % 10 == disturbed);
      if (is_outlier) part += std::log1p(random.uniform(0.1, 1.0));
      const double truth = kEnergyOfA * (is_a ? 1.0 : ratio) * std::exp(part) * calibration;
      const double error = disturbance.sampling * truth;
      (is_a ? bench.a : bench.b).push_back(truth + error * normal(random));
      (is_a ? bench.errors_a : bench.errors_b).push_back(error);
    }
  }
  return bench;
}

}  // namespace wattle::lab
