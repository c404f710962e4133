// The power of CPUs, from their energy counters, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "played_machine.hpp"
#include "wattle/error.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::power_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

class CpuPowerTest : public testing::Test {
 protected:
  CpuPowerTest() = default;
  /// 50 W; its counter restarts 550 ms after the begin.
  void add_package_that_restarts() {
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back({fakes::counter_channel(Domain::package(0)), [](TimePoint now) {
                          const Seconds since = now - kBegin;
                          const double ticks = 16384.0 * 50.0 * since.count();
                          const bool restarted = since > 550ms;
                          return fakes::Shown{.raw = static_cast<std::uint64_t>(
                                                  restarted ? ticks - 400000.0 : ticks + 3e9)};
                        }});
    machine_.add(std::make_unique<fakes::ScriptedSensor>(std::move(counters), machine_.clock()));
  }

  PlayedMachine machine_;
};

TEST_F(CpuPowerTest, GivesTheMeanPowerOfACpuOverTheTimeThatPassed) {
  machine_.add_package(0, 50);
  PowerMonitor monitor = machine_.monitor();
  PowerMonitorMaker::read(monitor);
  machine_.pass(350ms);  // late: the power is that of 350 ms, not of the nominal 100
  PowerMonitorMaker::read(monitor);
  const auto power = monitor.cpu_power().at(Domain::package(0));
  ASSERT_TRUE(power);
  EXPECT_NEAR(power->power.si(), 50.0, 1e-3);
  EXPECT_EQ(power->begin, kBegin);
  EXPECT_EQ(power->timestamp, kBegin + 350ms);
}

TEST_F(CpuPowerTest, ListsTheMeanPowersOfACpu) {
  machine_.add_package(0, 50);
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  const auto all = monitor.cpu_timeline(Domain::package(0));
  ASSERT_THAT(all, SizeIs(10));
  EXPECT_EQ(all.front().begin, kBegin);
  EXPECT_EQ(all.back().timestamp, kBegin + 1s);
  for (const CpuPowerSample& sample : all) EXPECT_NEAR(sample.power.si(), 50.0, 1e-3);
  EXPECT_THAT(monitor.cpu_timeline(Domain::package(0), kBegin + 200ms, kBegin + 500ms), SizeIs(3));
}

TEST_F(CpuPowerTest, HasNoPowerAndNoEnergyWhereTheCounterIsStuck) {
  machine_.add_package(0, 0);
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  EXPECT_THAT(monitor.cpu_timeline(Domain::package(0)), SizeIs(0));
  EXPECT_EQ(monitor.cpu_power().at(Domain::package(0)), std::nullopt);
  const MeasuredEnergy energy = monitor.cpu_energy(kBegin, kBegin + 1s).at(Domain::package(0));
  EXPECT_EQ(energy.energy, std::nullopt);
  EXPECT_TRUE(energy.flags.has(Flag::stuck));
}

TEST_F(CpuPowerTest, GivesTheMeanPowerOfACounterThatMovesLessOftenThanItIsRead) {
  std::vector<fakes::ScriptedCounter> counters;
  counters.push_back({fakes::counter_channel(Domain::package(0)), [](TimePoint now) {
                        const auto s = static_cast<std::uint64_t>(Seconds(now - kBegin).count());
                        return fakes::Shown{.raw = s * 16384 * 50};
                      }});
  machine_.add(std::make_unique<fakes::ScriptedSensor>(std::move(counters), machine_.clock()));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 3s);
  const auto all = monitor.cpu_timeline(Domain::package(0));
  ASSERT_THAT(all, SizeIs(3));
  for (const CpuPowerSample& sample : all) EXPECT_NEAR(sample.power.si(), 50.0, 1e-3);
}

TEST_F(CpuPowerTest, LeavesOutThePowerOfACpuWhereItsCounterRestarted) {
  add_package_that_restarts();
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  EXPECT_THAT(monitor.cpu_timeline(Domain::package(0)), SizeIs(9));
  const MeasuredEnergy all = monitor.cpu_energy(kBegin, kBegin + 1s).at(Domain::package(0));
  EXPECT_TRUE(all.flags.has(Flag::reset));
  EXPECT_EQ(all.unknown, 100ms);
}

TEST_F(CpuPowerTest, LeavesOutOneIntervalWhereACounterRestartedWheneverItIsRead) {
  add_package_that_restarts();
  PowerMonitor monitor = machine_.monitor();
  machine_.pass(123ns);
  machine_.play(monitor, 700ms);
  EXPECT_THAT(monitor.cpu_timeline(Domain::package(0)), SizeIs(5)) << "of six intervals";
  EXPECT_EQ(monitor.cpu_power().at(Domain::package(0)), std::nullopt);
  PowerMonitorMaker::read(monitor);
  EXPECT_THAT(monitor.cpu_timeline(Domain::package(0)), SizeIs(6));
  EXPECT_TRUE(monitor.cpu_power().at(Domain::package(0))) << "of the interval after the restart";
}

TEST_F(CpuPowerTest, HasNoPowerOfACpuBeforeTheSecondReading) {
  machine_.add_package(0, 50);
  PowerMonitor monitor = machine_.monitor();
  EXPECT_FALSE(monitor.cpu_power().at(Domain::package(0)));
  PowerMonitorMaker::read(monitor);
  EXPECT_FALSE(monitor.cpu_power().at(Domain::package(0)));
}

TEST_F(CpuPowerTest, NamesTheCpuDomainsThereAreForOneThatIsNotThere) {
  machine_.add_package(0, 50);
  const PowerMonitor monitor = machine_.monitor();
  EXPECT_THAT([&] { (void)monitor.cpu_timeline(Domain::dram(0)); },
              ThrowsMessage<NoSuchDomain>(AllOf(HasSubstr("dram_0"), HasSubstr("package_0"))));
}

}  // namespace
}  // namespace wattle::power_test
