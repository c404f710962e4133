// More records than users make.
#include <gtest/gtest.h>

#include <chrono>

#include "energy/metered_machine.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

TEST(EnergyMeterSoak, TakesTenMillionRecords) {
  constexpr std::size_t kMany = 10'000'000;
  tests::MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0));
  EnergyMeter meter = machine.meter();
  meter.start();
  for (std::size_t i = 1; i < kMany; ++i) {
    machine.wait(1ms);
    meter.record();
  }
  machine.wait(1ms);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  ASSERT_EQ(trace.size(), kMany);
  double sum_j = 0.0;
  for (const EnergySample& sample : trace) sum_j += sample.energies()[0].energy->si();
  EXPECT_NEAR(sum_j, 100.0 * 1e-3 * kMany, 1e-3) << "a million joules, through three turns";
}

}  // namespace
}  // namespace wattle
