#include "lab/comparison_model.hpp"

#include <cmath>
#include <utility>

namespace wattle::lab {

std::vector<Disturbance> disturbances() {
  return {{.name = "noise"},
          {.name = "autocorrelation", .autocorrelation = 0.9},
          {.name = "autocorrelation, drift", .autocorrelation = 0.7, .drift = 0.1},
          {.name = "drift of 2 % a run", .drift_a_run = 0.02},
          {.name = "sampling error alone", .noise = 0.0, .sampling = 0.01},
          {.name = "sampling error as large as the noise", .noise = 0.01, .sampling = 0.01},
          {.name = "one outlier", .has_one_outlier = true},
          {.name = "one run in ten an outlier", .outliers = 0.1},
          {.name = "all of these",
           .noise = 0.015,
           .autocorrelation = 0.7,
           .drift = 0.1,
           .outliers = 0.1,
           .sampling = 0.01},
          {.name = "skewed noise", .spread = Spread::skewed},
          {.name = "half as much again and as little", .noise = 0.5},
          {.name = "heavy tail", .spread = Spread::heavy},
          {.name = "two kinds, half and half",
           .noise = 0.01,
           .spread = Spread::two_kinds,
           .second_kind = 0.5},
          {.name = "two kinds, one in ten slow",
           .noise = 0.01,
           .spread = Spread::two_kinds,
           .second_kind = 0.1},
          {.name = "a clock that ticks", .spread = Spread::discrete}};
}

Disturbance unlike_kinds() {
  return {.name = "one in ten slow, beside none",
          .noise = 0.01,
          .spread = Spread::two_kinds,
          .second_kind = 0.1,
          .second_factor = 1.5,
          .is_a_steady = true};
}

Disturbance drift_without_turns() {
  return {.name = "drift of 2 % a run", .drift_a_run = 0.02, .takes_turns = false};
}

namespace {

/// The factor of one run, whose logarithm would wander by `wandering` standard deviations.
double factor_of(const Disturbance& disturbance, bool is_a, double wandering, Random& random) {
  constexpr double kPareto = 2.5;
  const double more = disturbance.second_factor - 1.0;
  switch (disturbance.spread) {
    case Spread::normal:
      break;
    case Spread::skewed:
      return std::exp(disturbance.noise * random.exponential(1.0));
    case Spread::heavy:
      return 0.8 + 0.2 * std::exp(random.exponential(1.0 / kPareto));
    case Spread::two_kinds:
      if (is_a && disturbance.is_a_steady) {
        return (1.0 + disturbance.second_kind * more) * std::exp(disturbance.noise * wandering);
      }
      return (1.0 + (random.chance(disturbance.second_kind) ? more : 0.0)) *
             std::exp(disturbance.noise * wandering);
    case Spread::discrete:
      return std::floor(random.uniform(3.0, 6.0)) / 4.0;
  }
  return std::exp(disturbance.noise * wandering);
}

}  // namespace

SimulatedBench simulate(const Disturbance& disturbance, std::size_t rounds, double ratio,
                        Random& random) {
  constexpr double kEnergyOfA = 100.0;
  const double calibration = random.uniform(0.95, 1.05);
  const double direction = random.chance(0.5) ? 1.0 : -1.0;
  const auto runs = static_cast<double>(2 * rounds);
  const auto disturbed = static_cast<std::size_t>(random.uniform() * static_cast<double>(rounds));
  double wandering = random.normal();
  double time = 0.0;
  SimulatedBench bench;
  for (std::size_t round = 0; round < rounds; ++round) {
    bool is_a = random.chance(0.5);
    for (int turn = 0; turn < 2; ++turn, is_a = !is_a, time += 1.0) {
      const std::size_t place = is_a ? round : rounds + round;
      const double at = disturbance.takes_turns ? time : static_cast<double>(place);
      const double rho = disturbance.autocorrelation;
      wandering = rho * wandering + std::sqrt(1.0 - rho * rho) * random.normal();
      double factor = factor_of(disturbance, is_a, wandering, random);
      const double drifted = disturbance.drift * at / runs + disturbance.drift_a_run * at;
      factor *= std::exp(direction * drifted);
      if (random.chance(disturbance.outliers)) factor *= random.uniform(1.1, 2.0);
      if (disturbance.has_one_outlier && is_a && round == disturbed) factor *= 1.5;
      const double truth = kEnergyOfA * (is_a ? 1.0 : ratio) * factor * calibration;
      const double error = disturbance.sampling * truth;
      (is_a ? bench.a : bench.b).push_back(truth + error * random.normal());
      (is_a ? bench.errors_a : bench.errors_b).push_back(error);
    }
  }
  return bench;
}

}  // namespace wattle::lab
