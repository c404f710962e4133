#include "calibration/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "meter_world.hpp"

namespace wattle {
namespace {

using test::meter_world;
using test::MeterWorld;
using test::MeterWorldOptions;
using test::WrongSensor;

constexpr CalibrationOptions kNear{.shift = {.least_s = -10.0, .most_s = 10.0}};

/// A few worlds for each change; WATTLE_MANY_WORLDS asks for as many as it says.
std::uint64_t worlds() {
  const char* const many = std::getenv("WATTLE_MANY_WORLDS");  // NOLINT(concurrency-mt-unsafe)
  return many != nullptr ? std::strtoull(many, nullptr, 10) : 2;
}

struct Outcomes {
  double worlds = 0.0;
  double named = 0.0;    ///< the wrong sensor disagrees
  double falsely = 0.0;  ///< another one does
  double totals = 0.0;
  double held = 0.0;  ///< totals that hold the truth
};

double truth_of(const MeterWorld& world, const std::vector<std::string>& names) {
  double sum_j = 0.0;
  for (std::size_t i = 0; i < world.domains.size(); ++i) {
    if (std::ranges::count(names, world.domains[i].name) > 0) sum_j += world.energy_j[i];
  }
  return sum_j;
}

Outcomes outcomes_of(const MeterWorldOptions& options) {
  Outcomes outcomes;
  for (std::uint64_t seed = 0; seed < worlds(); ++seed) {
    const MeterWorld world = meter_world(test::kFirstWorld + seed, options);
    const MeterCalibration result = calibrated(world.meter, world.domains, kNear);
    outcomes.worlds += 1.0;
    bool is_named = false;
    bool is_false = false;
    for (const CalibratedDomain& domain : result.domains) {
      if (domain.verdict != SensorVerdict::disagrees) continue;
      (domain.name == world.culprit ? is_named : is_false) = true;
    }
    outcomes.named += is_named ? 1.0 : 0.0;
    outcomes.falsely += is_false ? 1.0 : 0.0;
    if (!result.total_j) continue;
    outcomes.totals += 1.0;
    const double error_j = result.total_j->value - truth_of(world, result.total_of);
    outcomes.held += std::abs(error_j) <= result.total_j->uncertainty ? 1.0 : 0.0;
  }
  std::printf("%.0f worlds: named %.0f, falsely %.0f, totals %.0f, held %.0f\n", outcomes.worlds,
              outcomes.named, outcomes.falsely, outcomes.totals, outcomes.held);
  return outcomes;
}

/// Allows what chance makes of `part` in few worlds.
double most_of(double part, double worlds) {
  return part * worlds + 2.0 * std::sqrt(part * (1.0 - part) * worlds);
}

// The parts are those of docs/calibration.md, measured over 200 worlds.

TEST(Calibration, AccusesNoneOfFiveRightSensors) {
  const Outcomes outcomes = outcomes_of({.wrong = WrongSensor::none});
  EXPECT_LE(outcomes.falsely, most_of(0.01, outcomes.worlds));
  EXPECT_LE(outcomes.totals - outcomes.held, most_of(0.05, outcomes.worlds));
  EXPECT_GE(outcomes.totals, 0.95 * outcomes.worlds);
}

TEST(Calibration, NamesASensorOfAnotherUnit) {
  const Outcomes outcomes = outcomes_of({.wrong = WrongSensor::unit});
  EXPECT_LE(outcomes.worlds - outcomes.named, most_of(0.03, outcomes.worlds));
  EXPECT_LE(outcomes.falsely, most_of(0.01, outcomes.worlds));
  EXPECT_LE(outcomes.totals - outcomes.held, most_of(0.05, outcomes.worlds));
}

TEST(Calibration, NamesASensorThatIsStuck) {
  const Outcomes outcomes = outcomes_of({.wrong = WrongSensor::stuck});
  EXPECT_LE(outcomes.worlds - outcomes.named, most_of(0.05, outcomes.worlds));
  EXPECT_LE(outcomes.falsely, most_of(0.01, outcomes.worlds));
}

TEST(Calibration, NamesASensorThatIsLate) {
  const Outcomes outcomes = outcomes_of({.wrong = WrongSensor::late});
  EXPECT_LE(outcomes.worlds - outcomes.named, most_of(0.05, outcomes.worlds));
  EXPECT_LE(outcomes.falsely, most_of(0.01, outcomes.worlds));
  EXPECT_LE(outcomes.totals - outcomes.held, most_of(0.05, outcomes.worlds));
}

TEST(Calibration, NamesASensorThatAliases) {
  const Outcomes outcomes = outcomes_of({.wrong = WrongSensor::aliasing});
  EXPECT_LE(outcomes.worlds - outcomes.named, most_of(0.05, outcomes.worlds));
  EXPECT_LE(outcomes.falsely, most_of(0.01, outcomes.worlds));
  EXPECT_LE(outcomes.totals - outcomes.held, most_of(0.05, outcomes.worlds));
}

/// Totals of slow meters hold the truth, and no right sensor is accused.
void expect_no_wrong_figures(const MeterWorldOptions& options) {
  const Outcomes outcomes = outcomes_of(options);
  EXPECT_LE(outcomes.falsely, most_of(0.01, outcomes.worlds));
  EXPECT_LE(outcomes.totals - outcomes.held, most_of(0.05, outcomes.worlds));
}

TEST(Calibration, OfAMeterWithARowEvery5SecondsIsRight) {
  expect_no_wrong_figures({.wrong = WrongSensor::none, .length_s = 300.0, .period_s = 5.0});
  expect_no_wrong_figures({.wrong = WrongSensor::late, .length_s = 300.0, .period_s = 5.0});
}

TEST(Calibration, OfAMeterWithARowEvery30SecondsIsRight) {
  expect_no_wrong_figures({.wrong = WrongSensor::none, .length_s = 1200.0, .period_s = 30.0});
  expect_no_wrong_figures({.wrong = WrongSensor::late, .length_s = 1200.0, .period_s = 30.0});
}

TEST(Calibration, OfAMeterWithARowEvery10MillisecondsIsRight) {
  expect_no_wrong_figures({.wrong = WrongSensor::none, .period_s = 0.01});
}

TEST(Calibration, OfAMeterWithARowEvery60SecondsAccusesNoRightSensor) {
  const Outcomes outcomes =
      outcomes_of({.wrong = WrongSensor::none, .length_s = 3600.0, .period_s = 60.0});
  EXPECT_LE(outcomes.falsely, most_of(0.01, outcomes.worlds));
}

TEST(Calibration, FindsTheShiftOfTheMetersClock) {
  const MeterWorld world = meter_world(3, {});
  const MeterCalibration result = calibrated(world.meter, world.domains, kNear);
  ASSERT_EQ(result.problem, "");
  EXPECT_NEAR(result.timing.shift_s, world.shift_s, 0.3);
}

TEST(Calibration, GivesNoNumberForAMeterOfAnotherMachine) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const MeterWorld world = meter_world(seed, {});
    const MeterWorld other = meter_world(seed + 100, {});
    const MeterCalibration result = calibrated(other.meter, world.domains, kNear);
    EXPECT_FALSE(result.total_j) << seed;
    for (const CalibratedDomain& domain : result.domains) {
      EXPECT_NE(domain.verdict, SensorVerdict::agrees) << seed << domain.name;
    }
  }
}

TEST(Calibration, SaysThatAConstantLoadShowsNothing) {
  MeterWorld world = meter_world(1, {});
  for (RecordedDomainPower& domain : world.domains) {
    std::vector<PowerStep> steps = domain.power.steps();
    for (PowerStep& step : steps) step.power_w = 50.0;
    domain.power = PowerCurve(std::move(steps));
  }
  const MeterCalibration result = calibrated(world.meter, world.domains, kNear);
  EXPECT_NE(result.problem.find("run a load that varies"), std::string::npos) << result.problem;
  EXPECT_FALSE(result.total_j);
  EXPECT_FALSE(result.offset_w);
}

TEST(Calibration, CannotTellApartSensorsThatChangeTogether) {
  MeterWorld world = meter_world(1, {});
  world.domains[1].power = world.domains[0].power;
  const MeterCalibration result = calibrated(world.meter, world.domains, kNear);
  EXPECT_EQ(result.domains[0].verdict, SensorVerdict::unknown);
  EXPECT_FALSE(result.domains[0].gain);
  EXPECT_NE(result.domains[0].reason.find("together"), std::string::npos)
      << result.domains[0].reason;
}

TEST(Calibration, GivesNoNumberWhereGapsAreCloserThanTheMetersFilterIsLong) {
  MeterWorld world = meter_world(178, {.wrong = WrongSensor::none, .period_s = 0.1});
  // As a filter of 1.2 s shows them.
  double now_w = world.meter.front().power_w;
  for (MeterSample& sample : world.meter) {
    now_w += (sample.power_w - now_w) * 0.1 / 1.2;
    sample.power_w = now_w;
  }
  for (RecordedDomainPower& domain : world.domains) {
    std::vector<PowerStep> steps = domain.power.steps();
    std::erase_if(steps, [n = 0](const PowerStep&) mutable { return n++ % 20 == 0; });
    domain.power = PowerCurve(std::move(steps));
  }
  const MeterCalibration result = calibrated(world.meter, world.domains, kNear);
  EXPECT_NE(result.problem.find("without gaps"), std::string::npos) << result.problem;
  EXPECT_FALSE(result.total_j);
}

TEST(Calibration, RefusesAMeterThatDoesNotCoverTheRun) {
  MeterWorld world = meter_world(1, {});
  for (MeterSample& sample : world.meter) sample.time_s += 3600.0;
  const MeterCalibration result = calibrated(world.meter, world.domains, kNear);
  EXPECT_NE(result.problem.find("do not cover"), std::string::npos) << result.problem;
}

TEST(Calibration, BoundsTheErrorOfASensorByTheEfficiency) {
  const CalibratedDomain domain{.name = "package_0", .gain = CalibratedNumber{1.1, 0.02}};
  const auto unknown = sensor_error_percent(domain, {});
  ASSERT_TRUE(unknown);
  EXPECT_NEAR(*unknown, 19.0, 0.1);  // 1.08 x 0.75
  const auto known = sensor_error_percent(domain, {.least = 0.9, .most = 0.92, .is_stated = true});
  ASSERT_TRUE(known);
  EXPECT_NEAR(*known, 3.04, 0.1);  // 1.12 x 0.92
}

}  // namespace
}  // namespace wattle
