// The energy meter while the wall clock is set: in a program of its own.
#include <gtest/gtest.h>

#include <cstdint>

#include "fakes/powercap_tree.hpp"
#include "fakes/wall_clock.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle {
namespace {

class MeterWallClock : public testing::TestWithParam<std::int64_t> {
 protected:
  MeterWallClock() { tree_.add_zone("intel-rapl:0", "package-0", fakes::kPackageUnit, 1000); }
  ~MeterWallClock() override { fakes::set_wall_clock_off(0); }

  fakes::PowercapTree tree_;
};

TEST_P(MeterWallClock, ThatIsSetChangesNoDurationAndNoEnergy) {
  EnergyMeter meter({.system = tree_.system()});
  meter.start("before");
  meter.record("across");
  fakes::set_wall_clock_off(GetParam());
  fakes::set_energy_uj(tree_.zone_path("intel-rapl:0"),
                       fakes::kPackageUnit.energy_uj(1000 + 16384));
  meter.record("behind");
  meter.stop();
  const EnergyTrace trace = meter.trace();
  ASSERT_EQ(trace.size(), 3U);
  for (const EnergySample& sample : trace) {
    EXPECT_GE(sample.duration(), Seconds(0.0)) << sample.tag();
    EXPECT_LT(sample.duration(), Seconds(60.0)) << sample.tag();
  }
  EXPECT_DOUBLE_EQ(trace["across"].energy("package_0").energy->si(), 1.0);
}

constexpr std::int64_t kHour = 3600;
INSTANTIATE_TEST_SUITE_P(ByAnHour, MeterWallClock, testing::Values(kHour, -kHour));

}  // namespace
}  // namespace wattle
