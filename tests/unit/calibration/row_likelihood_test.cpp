#include "calibration/row_likelihood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace wattle {
namespace {

/// Two devices whose powers change now and then, and a meter that sees both.
struct TwoDevices {
  MeterRows meter;
  std::vector<double> first_w;
  std::vector<double> second_w;
  std::vector<bool> known;
};

constexpr double kFirstGain = 1.2;
constexpr double kSecondGain = 0.9;

TwoDevices two_devices(unsigned seed, double noise_w, double walk_w) {
  constexpr int kRows = 400;
  constexpr double kPeriod = 0.1;
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  TwoDevices made;
  made.meter.spacing_s = made.meter.period_s = kPeriod;
  double first_w = 50.0;
  double second_w = 100.0;
  double rest_w = 40.0;
  for (int k = 0; k < kRows; ++k) {
    if (uniform(engine) < 0.05) first_w = 200.0 * uniform(engine);
    if (uniform(engine) < 0.05) second_w = 200.0 * uniform(engine);
    rest_w += walk_w * normal(engine);
    made.first_w.push_back(first_w);
    made.second_w.push_back(second_w);
    made.meter.time_s.push_back(kPeriod * k);
    made.meter.power_w.push_back(kFirstGain * first_w + kSecondGain * second_w + rest_w +
                                 noise_w * normal(engine));
  }
  made.known.assign(kRows, true);
  return made;
}

double likelihood_of(RowLikelihood& rows, const TwoDevices& devices, double walk = 0.2) {
  const std::vector<PriorColumn> columns = {{devices.first_w, 1.0, 1.0, 1.0},
                                            {devices.second_w, 1.0, 1.0, 1.0}};
  const std::vector<double> doubt_w(devices.known.size(), 0.0);
  return rows.of(columns, devices.known, doubt_w, walk);
}

double error_of(const RowLikelihood& rows, std::size_t coefficient) {
  double squares = 0.0;
  for (const auto& error : rows.errors()) squares += error[coefficient] * error[coefficient];
  return std::sqrt(squares);
}

TEST(RowLikelihood, FindsCoefficientsWithinTheirErrors) {
  constexpr unsigned kWorlds = 100;
  int within = 0;
  for (unsigned seed = 0; seed < kWorlds; ++seed) {
    const TwoDevices devices = two_devices(seed, 0.6, 0.05);
    RowLikelihood rows(devices.meter);
    static_cast<void>(likelihood_of(rows, devices));
    const double off = rows.coefficients()[0] - kFirstGain;
    if (std::abs(off) <= 1.96 * error_of(rows, 0)) ++within;
  }
  EXPECT_GE(within, 88);  // 95 of 100, but for three standard errors
}

TEST(RowLikelihood, CountsRowsFarOffLittle) {
  TwoDevices devices = two_devices(1, 0.6, 0.05);
  for (std::size_t k = 0; k < devices.known.size(); k += 40) devices.meter.power_w[k] += 500.0;
  RowLikelihood rows(devices.meter);
  static_cast<void>(likelihood_of(rows, devices));
  EXPECT_NEAR(rows.coefficients()[0], kFirstGain, 0.05);
  EXPECT_NEAR(rows.coefficients()[1], kSecondGain, 0.05);
}

TEST(RowLikelihood, PrefersTheWalkThatTheRestHas) {
  const TwoDevices calm = two_devices(2, 0.6, 0.0);
  RowLikelihood of_calm(calm.meter);
  EXPECT_GT(likelihood_of(of_calm, calm, 0.03), likelihood_of(of_calm, calm, 30.0));
  const TwoDevices wild = two_devices(2, 0.3, 3.0);
  RowLikelihood of_wild(wild.meter);
  EXPECT_LT(likelihood_of(of_wild, wild, 0.03), likelihood_of(of_wild, wild, 1000.0));
}

TEST(RowLikelihood, KeepsWhatWasKnownWhereTheRowsShowNothing) {
  TwoDevices devices = two_devices(3, 0.6, 0.05);
  for (std::size_t k = 0; k < devices.known.size(); ++k) {
    devices.meter.power_w[k] += kFirstGain * (120.0 - devices.first_w[k]);
  }
  std::ranges::fill(devices.first_w, 120.0);
  RowLikelihood rows(devices.meter);
  static_cast<void>(likelihood_of(rows, devices));
  EXPECT_NEAR(rows.coefficients()[0], 1.0, 1e-6);
  EXPECT_GE(error_of(rows, 0), 1.0);
  EXPECT_NEAR(rows.coefficients()[1], kSecondGain, 0.01);
}

TEST(RowLikelihood, OfNoRowsKeepsWhatWasKnown) {
  TwoDevices devices = two_devices(5, 0.6, 0.05);
  RowLikelihood rows(devices.meter);
  devices.known.assign(devices.known.size(), false);
  static_cast<void>(likelihood_of(rows, devices));
  EXPECT_NEAR(rows.coefficients()[1], 1.0, 1e-9);
  EXPECT_GE(error_of(rows, 1), 1.0);
}

TEST(RowLikelihood, UsesNoRowThatIsUnknown) {
  TwoDevices devices = two_devices(4, 0.6, 0.05);
  RowLikelihood rows(devices.meter);
  for (std::size_t k = 100; k < 200; ++k) {
    devices.known[k] = false;
    devices.first_w[k] = std::nan("");
  }
  EXPECT_TRUE(std::isfinite(likelihood_of(rows, devices)));
  EXPECT_NEAR(rows.coefficients()[0], kFirstGain, 0.01);
}

}  // namespace
}  // namespace wattle
