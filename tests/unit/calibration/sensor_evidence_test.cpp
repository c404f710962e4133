#include "calibration/sensor_evidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "calibration/aligned_faults.hpp"
#include "meter_world.hpp"

namespace wattle {
namespace {

using test::meter_world;
using test::MeterWorld;
using test::WrongSensor;

constexpr ShiftRange kShifts{.least_s = -10.0, .most_s = 10.0};

SensorSuspicion suspicion(std::size_t domain, double evidence) {
  return {.fault = {.domain = domain, .lag_s = 1.0}, .evidence = evidence};
}

TEST(ClearSuspicion, IsThatOfTheMostEvidence) {
  const auto clear = clear_suspicion({suspicion(0, 1.0), suspicion(1, 90.0), suspicion(2, 20.0)});
  ASSERT_TRUE(clear);
  EXPECT_EQ(clear->fault.domain, 1U);
}

TEST(ClearSuspicion, IsNoneWhereTwoSensorsExplainTheMeter) {
  EXPECT_FALSE(clear_suspicion({suspicion(0, 60.0), suspicion(1, 90.0)}));
}

TEST(ClearSuspicion, IsNoneWithLittleEvidence) {
  EXPECT_FALSE(clear_suspicion({suspicion(0, -5.0), suspicion(1, 2.0)}));
  EXPECT_FALSE(clear_suspicion({}));
}

MeterWorld late_world(double by_s) {
  MeterWorld world = meter_world(5, {.length_s = 60.0, .period_s = 0.2});
  world.domains[3].power = world.domains[3].power.earlier(-by_s);
  return world;
}

TEST(SensorEvidence, FindsByHowMuchASensorIsLate) {
  for (const double late_s : {-2.0, 3.3}) {
    const MeterWorld world = late_world(late_s);
    const MeterAlignment at = aligned(world.meter, world.domains, kShifts);
    ASSERT_EQ(at.problem, "");
    const auto found =
        clear_suspicion(sensor_suspicions({at.rows, world.domains, at.timing, at.gains}));
    ASSERT_TRUE(found) << late_s;
    EXPECT_EQ(found->fault.domain, 3U);
    EXPECT_NEAR(found->fault.lag_s.value_or(0.0), late_s, 0.15);
  }
}

TEST(SensorEvidence, MovesALateSensorToItsTime) {
  const MeterWorld world = late_world(2.0);
  const FaultyAlignment found =
      with_faults(world.meter, without_faults(world.meter, world.domains, kShifts), kShifts);
  ASSERT_EQ(found.faults.size(), 5U);
  EXPECT_NEAR(found.faults[3].lag_s, 2.0, 0.15);
  EXPECT_NEAR(found.used[3].power.begin_s(), world.domains[3].power.begin_s() - 2.0, 0.15);
  EXPECT_FALSE(found.faults[3].is_unrelated);
}

TEST(SensorEvidence, TakesManySensorsToBeRight) {
  MeterWorld world = late_world(2.0);
  // Each of the others in four parts, whose changes are smaller.
  std::vector<RecordedDomainPower> domains = {world.domains[3]};
  for (int part = 0; part < 4; ++part) {
    for (const std::size_t i : {0U, 1U, 2U, 4U}) {
      std::vector<PowerStep> steps = world.domains[i].power.steps();
      for (PowerStep& step : steps) step.power_w /= 4.0;
      domains.push_back({.name = world.domains[i].name, .power = PowerCurve(std::move(steps))});
    }
  }
  ASSERT_EQ(domains.size(), 17U);
  FaultyAlignment plain{.used = domains, .alignment = {}, .faults = {}};
  plain.faults.resize(domains.size());
  const FaultyAlignment found = with_faults(world.meter, std::move(plain), kShifts);
  EXPECT_EQ(found.faults[0].lag_s, 0.0);
}

/// True where the search accuses the wrong sensor of steps that the meter does not see.
bool is_culprit_unrelated(const MeterWorld& world) {
  const MeterAlignment at = aligned(world.meter, world.domains, kShifts);
  if (!at.problem.empty()) return false;
  const auto found =
      clear_suspicion(sensor_suspicions({at.rows, world.domains, at.timing, at.gains}));
  return found && !found->fault.lag_s && world.domains[found->fault.domain].name == world.culprit;
}

TEST(SensorEvidence, NamesASensorOfSmallBeatsBesideLargeSteps) {
  // Beats of the memory at a meter with a row each second.
  for (const std::uint64_t seed : {1078U, 1171U}) {
    EXPECT_TRUE(is_culprit_unrelated(meter_world(seed, {.wrong = WrongSensor::aliasing}))) << seed;
  }
}

TEST(SensorEvidence, FindsTheTimingThatAWrongSensorHides) {
  // As if the meter took means over 3 to 4 s.
  for (const std::uint64_t seed : {1049U, 1137U}) {
    EXPECT_TRUE(is_culprit_unrelated(meter_world(seed, {.wrong = WrongSensor::aliasing}))) << seed;
  }
}

TEST(FittedGains, HoldTheTruthWithinTheirErrors) {
  const MeterWorld world = meter_world(6, {.length_s = 60.0, .period_s = 0.2});
  const FaultyAlignment found = without_faults(world.meter, world.domains, kShifts);
  const GainEstimates estimates = gain_estimates(found);
  for (std::size_t i = 0; i < world.domains.size(); ++i) {
    const double truth = world.energy_j[i] / world.domains[i].power.energy_j();
    const CalibratedNumber gain = estimates.gain(i);
    EXPECT_NEAR(gain.value, truth, gain.uncertainty) << world.domains[i].name;
  }
}

}  // namespace
}  // namespace wattle
