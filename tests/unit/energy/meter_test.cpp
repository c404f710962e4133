#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "energy/metered_machine.hpp"
#include "sanitized.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using tests::kTickJ;
using tests::MeteredMachine;

std::vector<std::string> tags_of(const EnergyTrace& trace) {
  std::vector<std::string> tags;
  for (const EnergySample& sample : trace) tags.push_back(sample.tag());
  return tags;
}

/// A package at 100 W and its memory at 10 W.
class EnergyMeterTest : public testing::Test {
 protected:
  EnergyMeterTest() {
    machine_.draws(Domain::package(0), Watts(100.0)).draws(Domain::dram(0), Watts(10.0));
  }

  MeteredMachine machine_;
};

TEST_F(EnergyMeterTest, MeasuresFromStartToStop) {
  EnergyMeter meter = machine_.meter();
  const TimePoint began = machine_.clock().at();
  meter.start("work");
  machine_.wait(2s);
  meter.stop();

  const EnergyTrace trace = meter.trace();
  ASSERT_EQ(trace.size(), 1U);
  const EnergySample& sample = trace[std::size_t{0}];
  EXPECT_EQ(sample.tag(), "work");
  EXPECT_EQ(sample.timestamp(), began);
  EXPECT_EQ(sample.duration(), Seconds(2.0));
  EXPECT_NEAR(sample.energy("package_0").energy->si(), 200.0, kTickJ);
  EXPECT_NEAR(sample.energy("dram_0").energy->si(), 20.0, kTickJ);
  EXPECT_TRUE(sample.energy("package_0").flags.none());
}

TEST_F(EnergyMeterTest, KeepsTheOrderOfTheDomains) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  machine_.wait(1s);
  meter.stop();
  EXPECT_EQ(*meter.trace()[std::size_t{0}].domains(),
            (std::vector<std::string>{"package_0", "dram_0"}));
}

TEST_F(EnergyMeterTest, StatesAnUncertaintyThatCoversTheTruth) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  machine_.wait(10ms);
  meter.stop();
  const MeasuredEnergy energy = meter.trace()[std::size_t{0}].energy("package_0");
  EXPECT_GT(energy.uncertainty.si(), 100.0 * 1e-3 / 4) << "a part of one update of 1 ms";
  EXPECT_LT(energy.uncertainty.si(), 100.0 * 10e-3);
  EXPECT_EQ(energy.unknown, Seconds(0.0));
}

TEST_F(EnergyMeterTest, NamesTheStretchThatBeginsWithTheTag) {
  EnergyMeter meter = machine_.meter();
  meter.start("load");
  machine_.wait(1s);
  meter.record("train");
  machine_.wait(3s);
  meter.stop();

  const EnergyTrace trace = meter.trace();
  ASSERT_EQ(tags_of(trace), (std::vector<std::string>{"load", "train"}));
  EXPECT_NEAR(trace["load"].energy("package_0").energy->si(), 100.0, kTickJ);
  EXPECT_NEAR(trace["train"].energy("package_0").energy->si(), 300.0, kTickJ);
}

TEST_F(EnergyMeterTest, LosesNothingBetweenNeighbouringStretches) {
  EnergyMeter meter = machine_.meter();
  constexpr int kStretches = 1000;
  meter.start();
  for (int i = 1; i < kStretches; ++i) {
    machine_.wait(1237us);
    meter.record();
  }
  machine_.wait(1237us);
  meter.stop();
  double sum_j = 0.0;
  for (const EnergySample& sample : meter.trace()) {
    sum_j += sample.energy("package_0").energy->si();
  }
  EXPECT_NEAR(sum_j, 100.0 * kStretches * 1237e-6, kTickJ);
}

TEST_F(EnergyMeterTest, LeavesAPauseOut) {
  EnergyMeter meter = machine_.meter();
  meter.start("a");
  machine_.wait(1s);
  meter.record("b");
  machine_.wait(1s);
  meter.stop();
  machine_.wait(1h);
  meter.resume("c");
  machine_.wait(2s);
  meter.stop();

  const EnergyTrace trace = meter.trace();
  ASSERT_EQ(tags_of(trace), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(trace["b"].duration(), Seconds(1.0));
  EXPECT_EQ(trace["c"].timestamp() - trace["b"].timestamp(), 1h + 1s);
  EXPECT_NEAR(trace["c"].energy("package_0").energy->si(), 200.0, kTickJ);
}

TEST_F(EnergyMeterTest, UsesTheDefaultTagOnlyWhereNoneIsGiven) {
  EnergyMeter meter = machine_.meter("default");
  meter.start();
  machine_.wait(1s);
  meter.record("");
  machine_.wait(1s);
  meter.record("named");
  machine_.wait(1s);
  meter.stop();
  EXPECT_EQ(tags_of(meter.trace()), (std::vector<std::string>{"default", "", "named"}));
}

TEST_F(EnergyMeterTest, TakesAnyTag) {
  const std::vector<std::string> tags = {"__stop__", "a;b\"c\nd", std::string("\xff\x00x", 3),
                                         std::string(1'000'000, 'x'), "__stop__"};
  EnergyMeter meter = machine_.meter();
  meter.start("first");
  for (const std::string& tag : tags) {
    machine_.wait(1s);
    meter.record(tag);
  }
  machine_.wait(1s);
  meter.stop();
  const std::vector<std::string> found = tags_of(meter.trace());
  EXPECT_EQ(std::vector<std::string>(found.begin() + 1, found.end()), tags);
}

TEST_F(EnergyMeterTest, StartsAgainWithAnEmptyTrace) {
  EnergyMeter meter = machine_.meter();
  meter.start("old");
  machine_.wait(1s);
  meter.start("new");
  machine_.wait(2s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  ASSERT_EQ(tags_of(trace), (std::vector<std::string>{"new"}));
  EXPECT_NEAR(trace["new"].energy("package_0").energy->si(), 200.0, kTickJ);
}

TEST_F(EnergyMeterTest, GivesTheSameTraceAgain) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  machine_.wait(1s);
  meter.stop();
  EXPECT_EQ(meter.trace(), meter.trace());
}

TEST_F(EnergyMeterTest, ResumesBeforeTheFirstStartAsIfStarted) {
  EnergyMeter meter = machine_.meter();
  meter.resume("first");
  machine_.wait(1s);
  meter.stop();
  EXPECT_EQ(tags_of(meter.trace()), (std::vector<std::string>{"first"}));
}

TEST_F(EnergyMeterTest, MeasuresNothingInNoTimeAndSaysSo) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  meter.stop();
  const MeasuredEnergy energy = meter.trace()[std::size_t{0}].energy("package_0");
  EXPECT_EQ(energy.energy, std::nullopt);
}

TEST_F(EnergyMeterTest, BoundsWhatAWindowBelowOneUpdateCanBe) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  machine_.wait(100us);
  meter.stop();
  const MeasuredEnergy energy = meter.trace()[std::size_t{0}].energy("package_0");
  EXPECT_TRUE(energy.flags.has(Flag::short_window));
  EXPECT_GT(energy.uncertainty.si(), 0.0);
}

TEST_F(EnergyMeterTest, MakesMetersThatShareItsSensors) {
  EnergyMeter outer = machine_.meter("tag");
  outer.start("outer");
  machine_.wait(1s);
  EnergyMeter inner = outer.another();
  inner.start();
  machine_.wait(1s);
  inner.stop();
  machine_.wait(1s);
  outer.stop();
  EXPECT_NEAR(inner.trace()["tag"].energy("package_0").energy->si(), 100.0, kTickJ);
  EXPECT_NEAR(outer.trace()["outer"].energy("package_0").energy->si(), 300.0, kTickJ);
}

// The wrong order of calls.

TEST_F(EnergyMeterTest, CannotRecordOrStopBeforeTheStart) {
  EnergyMeter meter = machine_.meter();
  EXPECT_THROW(meter.record(), NotStarted);
  EXPECT_THROW(meter.stop(), NotStarted);
}

TEST_F(EnergyMeterTest, CannotRecordAfterTheStop) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  meter.stop();
  EXPECT_THROW(meter.record(), NotStarted);
  EXPECT_EQ(meter.trace().size(), 1U);
}

TEST_F(EnergyMeterTest, DoesNothingWhenStoppedAgain) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  machine_.wait(1s);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  machine_.wait(1s);
  meter.stop();
  EXPECT_EQ(meter.trace(), trace);
}

TEST_F(EnergyMeterTest, CannotResumeWhileRunning) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  EXPECT_THROW(meter.resume(), NotStopped);
  machine_.wait(1s);
  meter.stop();
  EXPECT_EQ(meter.trace().size(), 1U);
}

TEST_F(EnergyMeterTest, GivesNoTraceWhileRunning) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  EXPECT_THROW(static_cast<void>(meter.trace()), NotStopped);
}

TEST_F(EnergyMeterTest, GivesAnEmptyTraceBeforeTheFirstStart) {
  EXPECT_TRUE(machine_.meter().trace().empty());
}

// Idle.

TEST_F(EnergyMeterTest, MeasuresIdleForAsLongAsEachSampleTook) {
  EnergyMeter meter = machine_.meter();
  meter.start("short");
  machine_.wait(200ms);
  meter.record("long");
  machine_.wait(3s);
  meter.stop();
  const EnergyTrace trace = meter.trace();

  const EnergyTrace idle = meter.measure_idle(trace);
  ASSERT_EQ(tags_of(idle), tags_of(trace));
  EXPECT_NEAR(idle["short"].energy("package_0").energy->si(), 20.0, kTickJ);
  EXPECT_NEAR(idle["long"].energy("package_0").energy->si(), 300.0, kTickJ);
  EXPECT_EQ(meter.trace(), trace) << "the meter's own trace is left alone";
}

TEST_F(EnergyMeterTest, MeasuresNoIdleForAnEmptyTrace) {
  EXPECT_TRUE(machine_.meter().measure_idle({}).empty());
}

TEST_F(EnergyMeterTest, MeasuresNoIdleWhileRunning) {
  EnergyMeter meter = machine_.meter();
  meter.start();
  EXPECT_THROW(static_cast<void>(meter.measure_idle({})), NotStopped);
}

TEST_F(EnergyMeterTest, RefusesWhatNobodyCanWaitFor) {
  EnergyMeter meter = machine_.meter();
  EXPECT_THROW(meter.reserve(~std::size_t{0}), InvalidArgument);
  EnergyTrace endless({EnergySample({}, "x", Seconds(1e300), meter.domains(), {{}, {}})});
  EXPECT_THROW((void)meter.measure_idle(endless), InvalidArgument);
}

// A record stores one end for each domain, and its times and tag. The readings between records have
// a bounded history.
static_assert(sizeof(detail::StoredBoundary) + 2 * sizeof(TimePoint) + 2 * sizeof(std::uint32_t) <=
              64);

TEST_F(EnergyMeterTest, TakesAMillionSamples) {
  constexpr std::size_t kMany = kSanitized ? 100'000 : 1'000'000;
  EnergyMeter meter = machine_.meter();
  meter.reserve(kMany + 1);
  meter.start();
  for (std::size_t i = 1; i < kMany; ++i) {
    machine_.wait(1ms);
    meter.record();
  }
  machine_.wait(1ms);
  meter.stop();
  EXPECT_EQ(meter.trace().size(), kMany);
}

TEST_F(EnergyMeterTest, GoesOnAsTheMeterThatItWasMovedTo) {
  EnergyMeter meter = machine_.meter();
  meter.start("work");
  machine_.wait(1s);
  EnergyMeter other = std::move(meter);
  machine_.wait(1s);
  other.stop();
  EXPECT_NEAR(other.trace()[std::size_t{0}].energy("package_0").energy->si(), 200.0, kTickJ);
}

TEST_F(EnergyMeterTest, RefusesToBeUsedOnceItWasMoved) {
  EnergyMeter meter = machine_.meter();
  const EnergyMeter other = std::move(meter);
  // NOLINTBEGIN(bugprone-use-after-move): this is what is tested
  EXPECT_FALSE(meter.is_running());
  EXPECT_TRUE(meter.domains()->empty());
  EXPECT_THROW(meter.start(), InvalidArgument);
  EXPECT_THROW(meter.record(), InvalidArgument);
  EXPECT_THROW(meter.resume(), InvalidArgument);
  EXPECT_THROW(meter.stop(), InvalidArgument);
  EXPECT_THROW(meter.reserve(1), InvalidArgument);
  EXPECT_THROW((void)meter.trace(), InvalidArgument);
  EXPECT_THROW((void)meter.measure_idle(EnergyTrace()), InvalidArgument);
  EXPECT_THROW((void)meter.another(), InvalidArgument);
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace
}  // namespace wattle
