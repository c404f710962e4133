// The samples and powers that a monitor answers, in virtual time. Numbers in brackets are the
// weaknesses of the original that a test shows the absence of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "played_machine.hpp"
#include "wattle/error.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::power_test {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::SizeIs;
using testing::ThrowsMessage;

class PowerSamplesTest : public testing::Test {
 protected:
  PlayedMachine machine_;
};

TEST_F(PowerSamplesTest, FindsEachSampleByItsTimeInUnixSeconds) {
  int number = 0;
  machine_.add_gpu(0, [&](auto) { return watts(++number); }).add_package(0, 50);
  // Not of a whole second: a double does not hold these times.
  machine_.pass(123'456'700ns);
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 100s);
  const auto samples = monitor.timeline(kInstant).at(0);
  ASSERT_THAT(samples, SizeIs(999));
  for (const PowerSample& sample : samples) {
    const double time = sample.unix_s();
    const auto listed = monitor.timeline(kInstant, 0, time, time).at(0);
    ASSERT_THAT(listed, SizeIs(1)) << sample.power.si();
    EXPECT_EQ(listed[0].timestamp, sample.timestamp);
    EXPECT_EQ(monitor.power_at(time).at(0)->power, sample.power);
  }
  const auto powers = monitor.cpu_timeline(Domain::package(0));
  ASSERT_THAT(powers, SizeIs(998));
  for (const CpuPowerSample& sample : powers) {
    const auto listed =
        monitor.cpu_timeline(Domain::package(0), to_unix(sample.begin), sample.unix_s());
    ASSERT_THAT(listed, SizeIs(1));
    EXPECT_EQ(listed[0].timestamp, sample.timestamp);
  }
}

TEST_F(PowerSamplesTest, TakesAnyUnixTimeForAMoment) {
  machine_.add_gpu(0, always(100));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(monitor.power_at(infinity, Lookup::nearest).at(0)->power, Watts(100.0));
  EXPECT_EQ(monitor.power_at(-infinity, Lookup::nearest).at(0)->power, Watts(100.0));
}

TEST_F(PowerSamplesTest, ListsEachValueOnceWithItsTime) {
  machine_.add_gpu(0, step(100, 5s, 300));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_THAT(points(monitor.timeline(kInstant).at(0)),
              ElementsAre(Pair(0.0, 100.0), Pair(5.0, 300.0)));
}

TEST_F(PowerSamplesTest, ListsBothEndsOfAWindow) {
  machine_.add_gpu(0,
                   [](std::chrono::nanoseconds now) { return watts(Seconds(now).count() * 10); });
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const auto listed = monitor.timeline(kInstant, 0, kBegin + 500ms, kBegin + 700ms).at(0);
  EXPECT_THAT(points(listed), ElementsAre(Pair(0.5, 5.0), Pair(0.6, 6.0), Pair(0.7, 7.0)));
  EXPECT_THAT(monitor.timeline(kInstant, 0, kBegin + 500ms + 1us, kBegin + 599ms).at(0), IsEmpty());
}

TEST_F(PowerSamplesTest, ListsNoGpuThatIsNotMonitoredAndNoDomainThatItLacks) {
  machine_.add_gpu(0, always(100));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  EXPECT_THAT(monitor.timeline(kInstant, 5), IsEmpty());
  EXPECT_THAT(monitor.timeline(PowerDomain::memory_average), IsEmpty());
  EXPECT_THAT(monitor.all_timelines(), ElementsAre(Pair(kInstant, ElementsAre(Key(0)))));
}

TEST_F(PowerSamplesTest, KeepsAllDomainsOfAGpuApart) {
  machine_.add_gpu(0, {{kInstant, always(100)},
                       {PowerDomain::device_average, always(90)},
                       {PowerDomain::memory_average, always(20)}});
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  const TimePoint end = kBegin + 1s;
  EXPECT_NEAR(monitor.energy(kBegin, end, kInstant).at(0).energy->si(), 100.0, 1e-9);
  EXPECT_NEAR(monitor.energy(kBegin, end, PowerDomain::device_average).at(0).energy->si(), 90.0,
              1e-9);
  EXPECT_NEAR(monitor.energy(kBegin, end, PowerDomain::memory_average).at(0).energy->si(), 20.0,
              1e-9);
  EXPECT_THAT(monitor.all_timelines(), SizeIs(3));
}

TEST_F(PowerSamplesTest, FallsBackToTheAverageOfAGpuThatReportsNothingElse) {
  machine_.add_gpu(0, {{PowerDomain::device_average, always(90)}});
  machine_.add_gpu(1, always(100));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  const auto energies = monitor.energy(kBegin, kBegin + 1s);
  EXPECT_NEAR(energies.at(0).energy->si(), 90.0, 1e-9);
  EXPECT_NEAR(energies.at(1).energy->si(), 100.0, 1e-9);
  EXPECT_EQ(monitor.power().at(0)->domain, PowerDomain::device_average);
  EXPECT_EQ(monitor.power().at(1)->domain, kInstant);
}

TEST_F(PowerSamplesTest, RefusesADomainThatNoGpuReportsAndNamesBoth) {
  machine_.add_gpu(0, {{PowerDomain::memory_average, always(20)}});
  const PowerMonitor monitor = machine_.monitor();
  const auto names_both = AllOf(HasSubstr("device_instant"), HasSubstr("GPU 0"));
  EXPECT_THAT([&] { (void)monitor.power(kInstant); }, ThrowsMessage<CapabilityError>(names_both));
  EXPECT_THAT([&] { (void)monitor.power_at(kBegin); }, ThrowsMessage<CapabilityError>(names_both));
  EXPECT_THAT([&] { (void)monitor.energy(kBegin, kBegin); },
              ThrowsMessage<CapabilityError>(names_both));
}

TEST_F(PowerSamplesTest, LeavesAGpuThatLacksADomainEmptyWhereAnotherHasIt) {
  machine_.add_gpu(0, always(100));
  machine_.add_gpu(1, {{PowerDomain::device_average, always(90)}});
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  EXPECT_TRUE(monitor.power(kInstant).at(0));
  EXPECT_FALSE(monitor.power(kInstant).at(1));
  EXPECT_EQ(monitor.energy(kBegin, kBegin + 1s, kInstant).at(1).energy, std::nullopt);
}

// [6]: the nearest sample is that of the future just before a change.
TEST_F(PowerSamplesTest, GivesTheValueThatHeldAtATime) {
  machine_.add_gpu(0, step(100, 5s, 300));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_EQ(monitor.power_at(kBegin + 4999ms).at(0)->power, Watts(100.0));
  EXPECT_EQ(monitor.power_at(kBegin + 5s).at(0)->power, Watts(300.0));
}

TEST_F(PowerSamplesTest, GivesTheNearestSampleWhereThatIsAskedFor) {
  machine_.add_gpu(0, step(100, 1s, 300));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const auto nearest = [&](std::chrono::nanoseconds at) {
    return monitor.power_at(kBegin + at, Lookup::nearest).at(0)->power;
  };
  EXPECT_EQ(nearest(200ms), Watts(100.0));  // the original's example
  EXPECT_EQ(nearest(900ms), Watts(300.0));
  EXPECT_EQ(nearest(500ms), Watts(100.0));  // of two equally near, the earlier
  EXPECT_EQ(nearest(-1h), Watts(100.0));
  EXPECT_EQ(nearest(1h), Watts(300.0));
}

TEST_F(PowerSamplesTest, GivesNoValueForATimeThatNobodyLookedAt) {
  machine_.add_gpu(0, always(100));
  PowerMonitor monitor = machine_.monitor();
  EXPECT_FALSE(monitor.power_at(kBegin).at(0));
  EXPECT_FALSE(monitor.power_at(kBegin, Lookup::nearest).at(0));
  EXPECT_FALSE(monitor.power().at(0));
  machine_.play(monitor, 1s);
  EXPECT_FALSE(monitor.power_at(kBegin - 1ms).at(0));
  EXPECT_TRUE(monitor.power_at(kBegin + 1199ms).at(0));
  EXPECT_FALSE(monitor.power_at(kBegin + 1200ms).at(0));
}

// [7]: the newest value can be of any age, and does not say so.
TEST_F(PowerSamplesTest, GivesTheNewestValueWithItsTimes) {
  machine_.add_gpu(0, step(100, 5s, 300));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  machine_.pass(1h);
  const PowerSample newest = monitor.power().at(0).value();
  EXPECT_EQ(newest.power, Watts(300.0));
  EXPECT_EQ(newest.timestamp, kBegin + 5s);
  EXPECT_EQ(newest.last_confirmed, kBegin + 10s);
}

// [8]: one time for a whole sweep over GPUs, taken before it.
TEST_F(PowerSamplesTest, GivesEachReadingItsOwnTime) {
  fakes::VirtualClock slow;
  Survey found;
  found.sensors.push_back(instant_gpu(0, always(1), slow));
  found.sensors.push_back(instant_gpu(1, always(1), slow));
  slow.advance_at_each_look(10ms);
  PowerMonitor monitor =
      PowerMonitorMaker::make(std::move(found), slow, {.update_period = 100ms}, ReadBy::caller);
  PowerMonitorMaker::read(monitor);
  const auto powers = monitor.power();
  EXPECT_GT(powers.at(1)->timestamp, powers.at(0)->timestamp);
}

TEST_F(PowerSamplesTest, KeepsTheNewestSamplesOfEachDomainWhereTheirNumberIsLimited) {
  int number = 0;
  machine_.add_gpu(0, {{kInstant, [&](auto) { return watts(++number); }},
                       {PowerDomain::device_average, always(90)}});
  PowerMonitor monitor = machine_.monitor({.max_samples_per_gpu = 5});
  machine_.play(monitor, 100s);
  EXPECT_THAT(points(monitor.timeline(kInstant).at(0)),
              ElementsAre(Pair(DoubleNear(99.6, 1e-9), 997.0), Pair(DoubleNear(99.7, 1e-9), 998.0),
                          Pair(DoubleNear(99.8, 1e-9), 999.0), Pair(DoubleNear(99.9, 1e-9), 1000.0),
                          Pair(100.0, 1001.0)));
  EXPECT_THAT(monitor.timeline(PowerDomain::device_average).at(0), SizeIs(1));
  const MeasuredEnergy all = monitor.energy(kBegin + 99s, kBegin + 100s, kInstant).at(0);
  EXPECT_NEAR(all.energy->si(), (997.0 + 998.0 + 999.0 + 1000.0) / 10.0, 1e-9);
  EXPECT_EQ(all.unknown, 600ms);
  EXPECT_TRUE(all.flags.has(Flag::gap));
  EXPECT_FALSE(monitor.power_at(kBegin + 99s).at(0));
  EXPECT_EQ(monitor.power_at(kBegin + 1s, Lookup::nearest).at(0)->power, Watts(997.0));
}

TEST_F(PowerSamplesTest, KeepsAllSamplesBelowTheLimitOfTheirNumber) {
  int number = 0;
  machine_.add_gpu(0, [&](auto) { return watts(++number); });
  PowerMonitor monitor = machine_.monitor({.max_samples_per_gpu = 11});
  machine_.play(monitor, 1s);
  EXPECT_THAT(monitor.timeline(kInstant).at(0), SizeIs(11));
}

// [13]: an error of one GPU ends the reading of all.
TEST_F(PowerSamplesTest, ReadsTheOtherGpusWhileOneFails) {
  machine_.add_gpu(0, [](auto) { return fakes::Shown{.raw = 0, .status = ReadStatus::gone}; });
  machine_.add_gpu(1, step(100, 5s, 300));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_NEAR(monitor.energy(kBegin, kBegin + 10s).at(1).energy->si(), 2000.0, 1e-9);
}

}  // namespace
}  // namespace wattle::power_test
