// The energies that a monitor answers, in virtual time; beside them what Zeus's PowerMonitor
// (the original) answers where that is wrong.
#include "wattle/power_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "heard_log.hpp"
#include "played_machine.hpp"
#include "wattle/error.hpp"

namespace wattle::power_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::SizeIs;

class PowerMonitorTest : public testing::Test {
 protected:
  PowerMonitorTest() = default;

  [[nodiscard]] static MeasuredEnergy energy(const PowerMonitor& monitor,
                                             std::chrono::nanoseconds start,
                                             std::chrono::nanoseconds end) {
    return monitor.energy(kBegin + start, kBegin + end).at(0);
  }

  PlayedMachine machine_;
};

// Deduplicated samples under a trapezoid: 0 J in the original.
TEST_F(PowerMonitorTest, CountsAConstantPowerForAsLongAsItHeld) {
  machine_.add_gpu(0, always(100));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_THAT(monitor.timeline(kInstant).at(0), SizeIs(1));
  EXPECT_DOUBLE_EQ(energy(monitor, 0s, 10s).energy->si(), 1000.0);
}

// 1000 J in the original.
TEST_F(PowerMonitorTest, CountsAStepFromWhereItWasSeen) {
  machine_.add_gpu(0, step(100, 5s, 300));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_DOUBLE_EQ(energy(monitor, 0s, 10s).energy->si(), 2000.0);
}

// 0 J in the original.
TEST_F(PowerMonitorTest, CountsAWindowBetweenSamplesFromItsEdges) {
  machine_.add_gpu(0, step(100, 5s, 300));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_DOUBLE_EQ(energy(monitor, 1s, 9s).energy->si(), 1600.0);
  EXPECT_DOUBLE_EQ(energy(monitor, 1250ms, 1750ms).energy->si(), 50.0);
}

// 0.0 J in the original, which is a number that nothing was measured for.
TEST_F(PowerMonitorTest, LeavesTheEnergyOfAGpuThatWasNeverReadEmptyAndGivesTheOthers) {
  machine_.add_gpu(0, always(100));
  machine_.add_gpu(1, [](auto) { return fakes::Shown{.raw = 0, .status = ReadStatus::retry}; });
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const auto energies = monitor.energy(kBegin, kBegin + 2s);
  EXPECT_DOUBLE_EQ(energies.at(0).energy->si(), 200.0);
  EXPECT_EQ(energies.at(1).energy, std::nullopt);
  EXPECT_EQ(energies.at(1).unknown, 2s);
}

TEST_F(PowerMonitorTest, SaysWhatOfAWindowLiesBeforeTheFirstReading) {
  machine_.add_gpu(0, always(100));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const MeasuredEnergy wide = energy(monitor, -5s, 2s);
  EXPECT_DOUBLE_EQ(wide.energy->si(), 200.0);
  EXPECT_EQ(wide.unknown, 5s);
  EXPECT_TRUE(wide.flags.has(Flag::gap));
  EXPECT_EQ(energy(monitor, -5s, -1s).energy, std::nullopt);
}

TEST_F(PowerMonitorTest, SaysWhatOfAWindowLiesAfterTheLastReading) {
  machine_.add_gpu(0, always(100));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  // The last value held until it was due again, and one update more.
  const MeasuredEnergy wide = energy(monitor, 0s, 10s);
  EXPECT_DOUBLE_EQ(wide.energy->si(), 220.0);
  EXPECT_EQ(wide.unknown, 7800ms);
}

TEST_F(PowerMonitorTest, TakesAnyTimesForAWindow) {
  machine_.add_gpu(0, always(100)).add_package(0, 50);
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const auto all = monitor.energy(TimePoint::min(), TimePoint::max());
  EXPECT_DOUBLE_EQ(all.at(0).energy->si(), 220.0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(monitor.energy(-infinity, infinity).at(0).energy, all.at(0).energy);
  EXPECT_NEAR(monitor.cpu_energy(-infinity, infinity).at(Domain::package(0)).energy->si(), 100.0,
              1e-3);
  EXPECT_THAT(monitor.timeline(kInstant, {}, -infinity, infinity).at(0), SizeIs(1));
}

TEST_F(PowerMonitorTest, RefusesAWindowThatEndsBeforeItStarts) {
  machine_.add_gpu(0, always(100)).add_package(0, 50);
  const PowerMonitor monitor = machine_.monitor();
  const TimePoint late = kBegin + 1ns;
  EXPECT_THROW((void)monitor.energy(late, kBegin), InvalidArgument);
  EXPECT_THROW((void)monitor.energy(2.0, 1.0), InvalidArgument);
  EXPECT_THROW((void)monitor.timeline(kInstant, {}, late, kBegin), InvalidArgument);
  EXPECT_THROW((void)monitor.timeline(kInstant, {}, 2.0, 1.0), InvalidArgument);
  EXPECT_THROW((void)monitor.all_timelines({}, late, kBegin), InvalidArgument);
  EXPECT_THROW((void)monitor.cpu_timeline(Domain::package(0), late, kBegin), InvalidArgument);
  EXPECT_THROW((void)monitor.cpu_energy(late, kBegin), InvalidArgument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)monitor.energy(nan, 1.0), InvalidArgument);
  EXPECT_THROW((void)monitor.power_at(nan), InvalidArgument);
}

TEST_F(PowerMonitorTest, SpendsNothingInNoTime) {
  machine_.add_gpu(0, always(100)).add_package(0, 50);
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const TimePoint inside = kBegin + 1050ms;
  const auto package = Domain::package(0);
  for (const MeasuredEnergy& energy : {MeasuredEnergy(monitor.energy(inside, inside).at(0)),
                                       monitor.cpu_energy(inside, inside).at(package)}) {
    EXPECT_EQ(energy.energy, Joules(0.0));
    EXPECT_TRUE(energy.flags.has(Flag::short_window));
    EXPECT_FALSE(energy.flags.has(Flag::gap));
  }
  const TimePoint before = kBegin - 1s;
  EXPECT_EQ(monitor.energy(before, before).at(0).energy, std::nullopt);
  EXPECT_EQ(monitor.cpu_energy(before, before).at(package).energy, std::nullopt);
}

TEST_F(PowerMonitorTest, AnswersTheSameInUnixSeconds) {
  machine_.add_gpu(0, step(100, 5s, 300)).add_package(0, 50);
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  const double start = to_unix(kBegin + 1s);
  const double end = to_unix(kBegin + 9s);
  constexpr double kRounding = 1e-3;  // of a time as a double: 0.2 us, at 300 W
  EXPECT_NEAR(monitor.energy(start, end).at(0).energy->si(), 1600.0, kRounding);
  EXPECT_NEAR(monitor.cpu_energy(start, end).at(Domain::package(0)).energy->si(), 400.0, kRounding);
  EXPECT_THAT(monitor.timeline(kInstant, 0, start, end).at(0), SizeIs(1));
  EXPECT_THAT(monitor.all_timelines({}, start, end), ElementsAre(Key(kInstant)));
  EXPECT_EQ(monitor.power_at(to_unix(kBegin + 6s)).at(0)->power, Watts(300.0));
  EXPECT_NEAR(monitor.power().at(0)->unix_s(), to_unix(kBegin + 5s), 1e-6);
}

// [11]: memory that grows without bound.
TEST_F(PowerMonitorTest, StaysWithinItsMemoryAndSaysWhatItForgot) {
  constexpr std::size_t kLimit = std::size_t{128} << 10U;
  int number = 0;
  machine_.add_gpu(0, [&](auto) { return watts(100 + 37 * number++ % 101); });
  PowerMonitor monitor = machine_.monitor({.update_period = 1ms, .memory_limit = kLimit});
  constexpr auto kEnd = 1000s;
  machine_.play(monitor, kEnd);
  EXPECT_LE(monitor.memory_bytes(), kLimit);
  const MeasuredEnergy all = energy(monitor, 0s, kEnd);
  EXPECT_TRUE(all.flags.has(Flag::gap));
  EXPECT_GT(all.unknown, 100s);
  EXPECT_EQ(energy(monitor, kEnd - 1s, kEnd).unknown, 0s);
}

TEST_F(PowerMonitorTest, StoresNoReadingWithoutAValue) {
  machine_.add_gpu(0, [](std::chrono::nanoseconds now) {
    const bool fails = now / 100ms % 2 == 1;  // every other call, as when it is not supported
    return fails ? fakes::Shown{.raw = 0, .status = ReadStatus::retry} : watts(100);
  });
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_THAT(points(monitor.timeline(kInstant).at(0)), ElementsAre(Pair(0.0, 100.0)));
  // A value holds until it was due to be read, and one update more: here, until the next.
  EXPECT_DOUBLE_EQ(energy(monitor, 0s, 10s).energy->si(), 1000.0);
}

TEST_F(PowerMonitorTest, DoesNotCountTheTimeInWhichAGpuWasLost) {
  machine_.add_gpu(0, [](std::chrono::nanoseconds now) {
    const bool is_lost = now > 2s && now < 8s;
    return is_lost ? fakes::Shown{.raw = 0, .status = ReadStatus::gone} : watts(100);
  });
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  const MeasuredEnergy all = energy(monitor, 0s, 10s);
  EXPECT_TRUE(all.flags.has(Flag::gap));
  EXPECT_TRUE(all.flags.has(Flag::lost));
  EXPECT_DOUBLE_EQ(all.energy->si(), 420.0);
  EXPECT_EQ(all.unknown, 5800ms);
  EXPECT_FALSE(monitor.power_at(kBegin + 5s).at(0));
  EXPECT_TRUE(monitor.power_at(kBegin + 9s).at(0));
}

// [14]: readings of 0 W are dropped as if they were errors.
TEST_F(PowerMonitorTest, StoresZeroWattsAndSaysSo) {
  machine_.add_gpu(0, step(100, 5s, 0));
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  EXPECT_THAT(points(monitor.timeline(kInstant).at(0)),
              ElementsAre(Pair(0.0, 100.0), Pair(5.0, 0.0)));
  EXPECT_FALSE(monitor.power_at(kBegin).at(0)->flags.has(Flag::zero));
  EXPECT_TRUE(monitor.power().at(0)->flags.has(Flag::zero));
  EXPECT_DOUBLE_EQ(energy(monitor, 0s, 10s).energy->si(), 500.0);
  const MeasuredEnergy off = energy(monitor, 6s, 9s);
  EXPECT_EQ(off.energy, Joules(0.0));
  EXPECT_TRUE(off.flags.has(Flag::zero));
}

TEST_F(PowerMonitorTest, KeepsADayOfReadings) {
  machine_.add_gpu(0, [](std::chrono::nanoseconds now) {
    return watts(100.0 + static_cast<double>(now / 1s % 60));
  });
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 24h);
  const MeasuredEnergy day = energy(monitor, 0s, 24h);
  EXPECT_EQ(day.unknown, 0s);
  EXPECT_NEAR(day.energy->si(), 24 * 3600 * 129.5, 1e-3);
  EXPECT_EQ(monitor.power_at(kBegin + 12h + 30s).at(0)->power, Watts(130.0));
}

TEST_F(PowerMonitorTest, TakesTheBestOfAllPowersOfAGpuAsARunDoes) {
  machine_.add_gpu(0, {{kInstant, always(100)},
                       {PowerDomain::device_average, always(90)},
                       {PowerDomain::memory_average, always(20)}});
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 1s);
  const BestEnergy energy = monitor.energy(kBegin, kBegin + 1s).at(0);
  EXPECT_EQ(energy.quantity, "power_instant");
  ASSERT_THAT(energy.alternatives, SizeIs(1)) << "that of the memory is a part";
  EXPECT_EQ(energy.alternatives[0].quantity, "power_average");
}

// A board that samples 25 of 100 ms, under a load of the same pace that it sees at its highest.
class OfAGpuWithACounter : public PowerMonitorTest {
 protected:
  static constexpr double kSeen = 500;
  static constexpr double kTrue = 200;
  OfAGpuWithACounter() {
    machine_.add_counted_gpu(0, {{kInstant, always(kSeen)}}, [](std::chrono::nanoseconds since) {
      const auto updates = static_cast<std::uint64_t>(since / 100ms);
      return fakes::Shown{.raw = updates * static_cast<std::uint64_t>(kTrue * 100.0)};
    });
  }
};

TEST_F(OfAGpuWithACounter, EnergyIsByTheCounterAndShowsTheGauge) {
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  const BestEnergy energy = monitor.energy(kBegin + 1s, kBegin + 9s).at(0);
  EXPECT_EQ(energy.method, Method::counter);
  EXPECT_EQ(energy.quantity, "energy");
  ASSERT_TRUE(energy.energy);
  EXPECT_NEAR(energy.energy->si(), 8 * kTrue, energy.uncertainty.si());
  EXPECT_EQ(energy.unknown, Seconds(0));
  EXPECT_TRUE(energy.flags.has(Flag::disagrees));
  ASSERT_THAT(energy.alternatives, SizeIs(1));
  EXPECT_EQ(energy.alternatives[0].method, Method::integrated);
  EXPECT_EQ(energy.alternatives[0].quantity, "power_instant");
  EXPECT_NEAR(energy.alternatives[0].energy->si(), 8 * kSeen, 1e-6);
}

TEST_F(OfAGpuWithACounter, EnergyOfANamedPowerDomainIsOfThatPowerAlone) {
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 10s);
  const BestEnergy energy = monitor.energy(kBegin + 1s, kBegin + 9s, kInstant).at(0);
  EXPECT_EQ(energy.method, Method::integrated);
  EXPECT_EQ(energy.quantity, "device_instant");
  EXPECT_NEAR(energy.energy->si(), 8 * kSeen, 1e-6);
  EXPECT_THAT(energy.alternatives, IsEmpty());
}

TEST_F(OfAGpuWithACounter, EnergyIsOfTheMonitoredPowerDomainsWhereTheyWereNamed) {
  PowerMonitor monitor = machine_.monitor({.domains = std::vector{kInstant}});
  machine_.play(monitor, 10s);
  EXPECT_EQ(monitor.energy(kBegin + 1s, kBegin + 9s).at(0).method, Method::integrated);
}

TEST_F(OfAGpuWithACounter, EnergyInNoTimeIsZeroWithoutAlternatives) {
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const BestEnergy energy = monitor.energy(kBegin + 1s, kBegin + 1s).at(0);
  EXPECT_EQ(energy.energy, Joules(0.0));
  EXPECT_EQ(energy.flags, Flags::of(Flag::short_window));
  EXPECT_THAT(energy.alternatives, IsEmpty());
}

TEST_F(PowerMonitorTest, KnowsTheEnergyOfAGpuThatHasACounterAndNoPower) {
  machine_.add_counted_gpu(0, {}, [](std::chrono::nanoseconds since) {
    return fakes::Shown{.raw = static_cast<std::uint64_t>(since / 100ms) * 5000};
  });
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 4s);
  EXPECT_NEAR(monitor.energy(kBegin + 1s, kBegin + 3s).at(0).energy->si(), 100.0, 5.0);
  EXPECT_THROW((void)monitor.power(), CapabilityError);
}

TEST_F(PowerMonitorTest, ShowsAStuckCounterBesideThePowerThatReplacesIt) {
  machine_.add_counted_gpu(0, {{kInstant, always(100)}},
                           [](auto) { return fakes::Shown{.raw = 77}; });
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 5s);
  const BestEnergy energy = monitor.energy(kBegin, kBegin + 5s).at(0);
  EXPECT_DOUBLE_EQ(energy.energy->si(), 500.0);
  ASSERT_THAT(energy.alternatives, SizeIs(1));
  EXPECT_EQ(energy.alternatives[0].energy, std::nullopt);
  EXPECT_TRUE(energy.alternatives[0].flags.has(Flag::stuck));
}

TEST_F(PowerMonitorTest, SaysWhereTheAverageOfAModuleContradictsItsInstantPower) {
  machine_.add_gpu(0, {{PowerDomain::module_instant, step(100, 1s, 300)},
                       {PowerDomain::module_average, always(100)}});
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  const BestEnergy energy = monitor.energy(kBegin, kBegin + 2s).at(0);
  EXPECT_EQ(energy.quantity, "module_instant");
  EXPECT_TRUE(energy.flags.has(Flag::disagrees));
  ASSERT_THAT(energy.alternatives, SizeIs(1));
  EXPECT_EQ(energy.alternatives[0].quantity, "module_average");
}

// GH200: the driver shows the power of the module alone.
TEST_F(PowerMonitorTest, FallsBackToTheModuleOfAGpuWithoutAPowerOfItsOwnAndSaysSo) {
  const HeardLog log;
  machine_.add_gpu(0, {{PowerDomain::module_average, always(300)}});
  machine_.add_gpu(1, {{kInstant, always(100)}, {PowerDomain::module_instant, always(300)}});
  PowerMonitor monitor = machine_.monitor();
  machine_.play(monitor, 2s);
  EXPECT_EQ(monitor.default_domain(0), PowerDomain::module_average);
  EXPECT_EQ(monitor.power().at(0)->domain, PowerDomain::module_average);
  const auto energies = monitor.energy(kBegin, kBegin + 2s);
  EXPECT_DOUBLE_EQ(energies.at(0).energy->si(), 600.0);
  EXPECT_EQ(energies.at(0).quantity, "module_average");
  EXPECT_THAT(monitor.supported_domains(1), ElementsAre(kInstant));
  EXPECT_EQ(energies.at(1).quantity, "power_instant");
  EXPECT_THAT(log.messages(), ElementsAre(HasSubstr("GPU 0 shows no power of its own")));
}

}  // namespace
}  // namespace wattle::power_test
