#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "energy/metered_machine.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::counter_channel;
using fakes::ScriptedCounter;
using fakes::Shown;
using tests::kTickJ;
using tests::MeteredMachine;

constexpr std::uint64_t kModulus = std::uint64_t{1} << 32U;  // 262 kJ

MeasuredEnergy measure(MeteredMachine& machine, EnergyMeter& meter, std::chrono::nanoseconds time) {
  meter.start("x");
  machine.wait(time);
  meter.stop();
  return meter.trace()["x"].energy("package_0");
}

TEST(EnergyMeterFaults, FollowsACounterThroughItsEnd) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0), kModulus - 1000);
  EnergyMeter meter = machine.meter();
  const MeasuredEnergy energy = measure(machine, meter, 10s);
  EXPECT_NEAR(energy.energy->si(), 1000.0, kTickJ);
  EXPECT_TRUE(energy.flags.has(Flag::wrapped));
}

TEST(EnergyMeterFaults, CountsEveryWrapWhereTheKeeperReads) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(1000.0));
  const auto columns = machine.domains();
  EnergyMeter meter = detail::EnergyMeterMaker::meter(columns);
  EnergyMeter keeper = detail::EnergyMeterMaker::meter(
      columns);  // stands in for the thread: reads the same counters each minute
  keeper.start();
  meter.start("x");
  constexpr int kMinutes = 30;  // 1.8 MJ: almost seven turns
  for (int i = 0; i < kMinutes; ++i) {
    machine.wait(1min);
    keeper.record();
  }
  meter.stop();
  const MeasuredEnergy energy = meter.trace()["x"].energy("package_0");
  EXPECT_NEAR(energy.energy->si(), 1000.0 * 60 * kMinutes, kTickJ);
  EXPECT_TRUE(energy.flags.has(Flag::wrapped));
}

TEST(EnergyMeterFaults, SaysWhereAWrapCouldHaveBeenMissed) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(1000.0));
  EnergyMeter meter = machine.meter();
  const MeasuredEnergy energy = measure(machine, meter, 1h);
  EXPECT_TRUE(energy.flags.has(Flag::ambiguous));
}

TEST(EnergyMeterFaults, KnowsNothingAcrossAReset) {
  MeteredMachine machine;
  machine.shows(
      {counter_channel(Domain::package(0)), [began = machine.clock().at()](TimePoint now) {
         return Shown{.raw = now - began < 1s ? std::uint64_t{1} << 31U : 5};
       }});
  EnergyMeter meter = machine.meter();
  const MeasuredEnergy energy = measure(machine, meter, 2s);
  EXPECT_EQ(energy.energy, std::nullopt);
  EXPECT_EQ(energy.unknown, Seconds(2.0));
  EXPECT_TRUE(energy.flags.has(Flag::reset));
}

TEST(EnergyMeterFaults, KnowsNothingWhereAGpusCounterFalls) {
  MeteredMachine machine;
  Channel gpu = counter_channel(Domain::nvidia_gpu(0));
  gpu.counter.modulus = 0;  // it never wraps: the driver was loaded again
  machine.draws(Domain::package(0), Watts(100.0));
  machine.shows({gpu, [began = machine.clock().at()](TimePoint now) {
                   return Shown{.raw = now - began < 1s ? 1'000'000U : 500'000U};
                 }});
  EnergyMeter meter = machine.meter();
  meter.start("x");
  machine.wait(2s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  EXPECT_EQ(trace["x"].energy("nvidia_gpu_0").energy, std::nullopt);
  EXPECT_TRUE(trace["x"].energy("nvidia_gpu_0").flags.has(Flag::reset));
  EXPECT_NEAR(trace["x"].energy("package_0").energy->si(), 200.0, kTickJ);
}

TEST(EnergyMeterFaults, LosesOnlyTheStretchInWhichTheCounterWasReset) {
  MeteredMachine machine;
  machine.shows(
      {counter_channel(Domain::package(0)), [began = machine.clock().at()](TimePoint now) {
         const auto ticks = static_cast<std::uint64_t>(Seconds(now - began).count() * 16384.0);
         return Shown{.raw = now - began < 90s ? (std::uint64_t{1} << 31U) + ticks : ticks};
       }});
  EnergyMeter meter = machine.meter();
  meter.start("a");
  machine.wait(60s);
  meter.record("b");
  machine.wait(60s);
  meter.record("c");
  machine.wait(60s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  EXPECT_NEAR(trace["a"].energy("package_0").energy->si(), 60.0, kTickJ);
  EXPECT_EQ(trace["b"].energy("package_0").energy, std::nullopt);
  EXPECT_NEAR(trace["c"].energy("package_0").energy->si(), 60.0, kTickJ);
}

TEST(EnergyMeterFaults, IsNeverNegative) {
  MeteredMachine machine;
  machine.shows({counter_channel(Domain::package(0)), [i = std::uint64_t{0}](TimePoint) mutable {
                   i = i * 6364136223846793005U + 1442695040888963407U;
                   return Shown{.raw = i >> 32U};
                 }});
  EnergyMeter meter = machine.meter();
  meter.start();
  for (int i = 0; i < 1000; ++i) {
    machine.wait(i % 2 == 0 ? 1ms : 10s);
    meter.record();
  }
  meter.stop();
  for (const EnergySample& sample : meter.trace()) {
    const auto& energy = sample.energy("package_0").energy;
    EXPECT_TRUE(!energy || energy->si() >= 0.0);
  }
}

TEST(EnergyMeterFaults, KeepsTheOthersWhereOneDomainVanishes) {
  MeteredMachine machine;
  machine.draws(Domain::dram(0), Watts(10.0));
  machine.shows(
      {counter_channel(Domain::package(0)), [began = machine.clock().at()](TimePoint now) {
         return now - began < 1s ? Shown{.raw = 1} : Shown{.status = ReadStatus::gone};
       }});
  EnergyMeter meter = machine.meter();
  meter.start("x");
  machine.wait(2s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  EXPECT_EQ(trace["x"].energy("package_0").energy, std::nullopt);
  EXPECT_EQ(trace["x"].energy("package_0").unknown, Seconds(2.0));
  EXPECT_TRUE(trace["x"].energy("package_0").flags.has(Flag::lost));
  EXPECT_NEAR(trace["x"].energy("dram_0").energy->si(), 20.0, kTickJ);
}

TEST(EnergyMeterFaults, KeepsTheColumnOfADomainThatCannotBeReadAndSaysWhy) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0)).lacks(Domain::package(1));
  EnergyMeter meter = machine.meter();
  meter.start("x");
  machine.wait(1s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  EXPECT_NEAR(trace["x"].energy("package_0").energy->si(), 100.0, kTickJ);
  EXPECT_EQ(trace["x"].energy("package_1").energy, std::nullopt);
  EXPECT_EQ(trace["x"].energy("package_1").unknown, Seconds(1.0));
  ASSERT_EQ(trace.missing().size(), 1U);
  EXPECT_EQ(trace.missing()[0].subject, "package_1");
}

TEST(EnergyMeterFaults, KnowsNothingOfAStretchInWhichTheMachineSlept) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0));
  EnergyMeter meter = machine.meter();
  meter.start("slept");
  machine.clock().suspend(1h);
  machine.wait(1s);
  meter.record("awake");
  machine.wait(1s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  EXPECT_EQ(trace["slept"].energy("package_0").energy, std::nullopt);
  EXPECT_TRUE(trace["slept"].energy("package_0").flags.has(Flag::gap));
  EXPECT_NEAR(trace["awake"].energy("package_0").energy->si(), 100.0, kTickJ);
}

TEST(EnergyMeterFaults, CountsTheTimeBetweenTheDomainsReadingsAsUncertain) {
  const auto uncertainty_at = [](std::chrono::nanoseconds each_look) {
    MeteredMachine machine;
    for (std::uint32_t i = 0; i < 8; ++i) machine.draws(Domain::package(i), Watts(100.0));
    machine.clock().advance_at_each_look(each_look);
    EnergyMeter meter = machine.meter();
    return measure(machine, meter, 1s).uncertainty.si();
  };
  EXPECT_GT(uncertainty_at(1ms), 1.1 * uncertainty_at(1us));
}

TEST(EnergyMeterFaults, KnowsNothingInAForkedChild) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0));
  EnergyMeter meter = machine.meter();
  meter.start("x");
  machine.wait(1s);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    machine.wait(1s);
    meter.stop();
    const bool is_unknown = !meter.trace()["x"].energy("package_0").energy;
    ::_exit(is_unknown ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  meter.stop();
  EXPECT_NEAR(meter.trace()["x"].energy("package_0").energy->si(), 100.0, kTickJ)
      << "the parent's goes on";
}

}  // namespace
}  // namespace wattle
