// How often a sensor that aliases could be named by someone who knows the machine and the meter: a
// bound for any search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "calibration/shown_power.hpp"
#include "meter_world.hpp"

namespace wattle {
namespace {

using test::meter_world;
using test::MeterRowTruth;
using test::MeterWorld;
using test::WrongSensor;

/// Errors that remain: of gains, of their common part, and of the power that no sensor covers.
constexpr double kGainSd = 0.06;
constexpr double kCommonSd = 0.1;
constexpr double kRestSd = 200.0;
/// How long the wandering of the rest lasts, in seconds.
constexpr double kRestTime = 5.0;
/// 1 % for five sensors together, as a normal deviate for each.
constexpr double kFalseDeviate = 2.88;

double covariance(const MeterWorld& world, const MeterRowTruth& one, const MeterRowTruth& other) {
  const double apart_s = std::abs(one.time_s - other.time_s);
  double sum = kRestSd * kRestSd;
  sum += world.rest_w * world.rest_w * std::exp(-apart_s / kRestTime);
  if (&one == &other) sum += one.error_w * one.error_w;
  double one_w = 0.0;
  double other_w = 0.0;
  for (std::size_t d = 0; d < one.devices_w.size(); ++d) {
    sum += kGainSd * kGainSd * one.devices_w[d] * other.devices_w[d];
    one_w += one.devices_w[d];
    other_w += other.devices_w[d];
  }
  return sum + kCommonSd * kCommonSd * one_w * other_w;
}

/// The square of how far the meter is from what it would show if all sensors were right, in
/// standard deviations of all that is unknown.
double squared_distance(const MeterWorld& world) {
  const std::size_t n = world.rows.size();
  std::vector<double> root(n * n);
  std::vector<double> left(n);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    left[i] = world.rows[i].unseen_w;
    for (std::size_t j = 0; j <= i; ++j) {
      double value = covariance(world, world.rows[i], world.rows[j]);
      for (std::size_t k = 0; k < j; ++k) value -= root[i * n + k] * root[j * n + k];
      root[i * n + j] = i == j ? std::sqrt(value) : value / root[j * n + j];
      if (j < i) left[i] -= root[i * n + j] * left[j];
    }
    left[i] /= root[i * n + i];
    sum += left[i] * left[i];
  }
  return sum;
}

double normal_probability(double deviate) { return 0.5 * std::erfc(-deviate / std::sqrt(2.0)); }

/// The probability that a test of `free` steps finds that distance: Wilson, Hilferty and Patnaik.
double found_probability(double squared, double free) {
  const double spread = 2.0 / (9.0 * free);
  const double limit = free * std::pow(1.0 - spread + kFalseDeviate * std::sqrt(spread), 3.0);
  const double mean = free + squared;
  const double freedom = mean * mean / (mean + squared);
  const double found_spread = 2.0 / (9.0 * freedom);
  return 1.0 - normal_probability((std::cbrt(limit / mean) - (1.0 - found_spread)) /
                                  std::sqrt(found_spread));
}

TEST(MeterOracle, NamesNearlyEverySensorThatAliases) {
  const char* const many = std::getenv("WATTLE_MANY_WORLDS");
  const std::uint64_t worlds = many != nullptr ? std::strtoull(many, nullptr, 10) : 4;
  double of_memory = 0.0;
  double named = 0.0;
  double named_of_memory = 0.0;
  for (std::uint64_t seed = 0; seed < worlds; ++seed) {
    const MeterWorld world =
        meter_world(test::kFirstWorld + seed, {.wrong = WrongSensor::aliasing});
    const auto culprit =
        std::ranges::find(world.domains, world.culprit, &RecordedDomainPower::name);
    ASSERT_NE(culprit, world.domains.end());
    const auto steps = static_cast<double>(clear_steps(culprit->power).size());
    const double found = found_probability(squared_distance(world), std::max(1.0, steps));
    named += found;
    if (world.culprit != "dram_0") continue;
    of_memory += 1.0;
    named_of_memory += found;
  }
  std::printf("%.0f worlds: named %.1f; of the memory %.0f: named %.1f\n",
              static_cast<double>(worlds), named, of_memory, named_of_memory);
  EXPECT_GE(named, 0.95 * static_cast<double>(worlds));
}

}  // namespace
}  // namespace wattle
