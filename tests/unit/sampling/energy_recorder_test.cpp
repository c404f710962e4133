#include "sampling/energy_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::constant_power;
using fakes::counter_channel;
using fakes::ScriptedCounter;
using fakes::ScriptedSensor;
using fakes::Shown;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kTickJ = 1.0 / 16384.0;

class EnergyRecorderTest : public testing::Test {
 protected:
  void add_sensor(std::vector<ScriptedCounter> counters) {
    sensors_.push_back(std::make_unique<ScriptedSensor>(std::move(counters), clock_));
  }
  EnergyRecorder start() { return {std::move(sensors_), clock_}; }
  [[nodiscard]] ScriptedCounter constant(Domain domain, double watts) const {
    return constant_power(counter_channel(domain), Watts(watts), begin_);
  }
  /// Fails from `since` on.
  [[nodiscard]] ScriptedCounter failing(Domain domain, std::chrono::nanoseconds since) const {
    ScriptedCounter counter = constant(domain, 10.0);
    return {counter.channel, [script = counter.script, at = begin_ + since](TimePoint now) {
              return now < at ? script(now) : Shown{.status = ReadStatus::retry};
            }};
  }
  [[nodiscard]] EnergyFigure figure(const EnergyRecorder& recorder, Domain domain) const {
    for (const auto& result : recorder.results(begin_, clock_.at())) {
      if (result.channel.domain == domain) return result.figure;
    }
    throw std::out_of_range("no result for " + domain.name());
  }

  fakes::VirtualClock clock_;
  TimePoint begin_ = clock_.at();
  std::vector<std::unique_ptr<Sensor>> sensors_;
};

TEST_F(EnergyRecorderTest, MeasuresEveryCounterOfEverySensor) {
  add_sensor({constant(Domain::package(0), 100.0), constant(Domain::dram(0), 8.0)});
  add_sensor({constant(Domain::package(1), 60.0)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  for (int i = 0; i < 10; ++i) {
    clock_.advance(1s);
    recorder.read(true);
  }
  EXPECT_EQ(figure(recorder, Domain::package(0)).energy, Joules(1000.0));
  EXPECT_EQ(figure(recorder, Domain::package(1)).energy, Joules(600.0));
  EXPECT_EQ(figure(recorder, Domain::dram(0)).energy, Joules(80.0));
  EXPECT_EQ(figure(recorder, Domain::dram(0)).max, Watts(8.0));
}

TEST_F(EnergyRecorderTest, ListsResultsInTheOrderOfDomains) {
  add_sensor({constant(Domain::psys(), 1.0)});
  add_sensor({constant(Domain::package(1), 1.0), constant(Domain::dram(1), 1.0)});
  add_sensor({constant(Domain::package(0), 1.0), constant(Domain::core(0), 1.0)});
  const EnergyRecorder recorder = start();
  std::vector<std::string> names;
  for (const auto& result : recorder.results(begin_, begin_)) {
    names.push_back(result.channel.domain.name());
  }
  EXPECT_THAT(names, ElementsAre("package_0", "package_1", "dram_1", "core_0", "psys"));
}

TEST_F(EnergyRecorderTest, IsExactAcrossAWrap) {
  const std::uint64_t close_to_the_end = 0xFFFFFFFF - 1000;
  add_sensor({constant_power(counter_channel(Domain::package(0)), Watts(100.0), begin_,
                             close_to_the_end)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  clock_.advance(12'345'678ns);
  recorder.read(false);
  const auto ticks = static_cast<std::uint64_t>(100.0 * 0.012345678 / kTickJ);
  const EnergyFigure seen = figure(recorder, Domain::package(0));
  EXPECT_EQ(seen.energy, Joules(kTickJ * static_cast<double>(ticks)));
  EXPECT_TRUE(seen.flags.has(Flag::wrapped));
}

TEST_F(EnergyRecorderTest, OneSensorThatFailsDoesNotHideTheOthers) {
  add_sensor({failing(Domain::package(0), 1ns), constant(Domain::dram(0), 8.0)});
  add_sensor({constant(Domain::package(1), 60.0)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(false);
  EXPECT_EQ(figure(recorder, Domain::package(0)).energy, std::nullopt);
  EXPECT_EQ(figure(recorder, Domain::package(0)).unknown, Seconds(1.0));
  EXPECT_EQ(figure(recorder, Domain::package(1)).energy, Joules(60.0));
  EXPECT_EQ(figure(recorder, Domain::dram(0)).energy, Joules(8.0));
}

TEST_F(EnergyRecorderTest, IntervalPowerIsThatOfTheTotal) {
  add_sensor({constant(Domain::package(0), 100.0), constant(Domain::dram(0), 8.0),
              constant(Domain::core(0), 70.0)});
  add_sensor({constant(Domain::psys(), 200.0)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  EXPECT_EQ(recorder.interval_power(), std::nullopt) << "none has ended";
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), Watts(108.0)) << "cores and platform are in there already";
}

TEST_F(EnergyRecorderTest, IntervalPowerIsAbsentWhereAPartOfItIsUnknown) {
  add_sensor({constant(Domain::package(0), 100.0), failing(Domain::dram(0), 2s)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), Watts(110.0));
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), std::nullopt);
}

TEST_F(EnergyRecorderTest, TimeAcrossASuspendIsUnknown) {
  add_sensor({constant(Domain::package(0), 100.0)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(false);
  clock_.suspend(8h);
  clock_.advance(250ms);
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(false);
  const EnergyFigure seen = figure(recorder, Domain::package(0));
  EXPECT_EQ(seen.energy, Joules(200.0));
  EXPECT_EQ(seen.unknown, Seconds(0.25));
  EXPECT_TRUE(seen.flags.has(Flag::gap));
}

TEST_F(EnergyRecorderTest, TimeAcrossEachOfSeveralSuspendsIsUnknown) {
  add_sensor({constant(Domain::package(0), 100.0)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  for (int i = 0; i < 3; ++i) {
    clock_.suspend(1min);
    clock_.advance(1s);
    recorder.read(false);
  }
  EXPECT_EQ(figure(recorder, Domain::package(0)).energy, std::nullopt);
  EXPECT_EQ(figure(recorder, Domain::package(0)).unknown, Seconds(3.0));
}

TEST_F(EnergyRecorderTest, SuspendBeforeTheStartIsForgotten) {
  clock_.suspend(8h);
  add_sensor({constant(Domain::package(0), 100.0)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(false);
  EXPECT_EQ(figure(recorder, Domain::package(0)).unknown.count(), 0.0);
}

TEST_F(EnergyRecorderTest, TakesTheNoiseOfTwoClocksForNoSuspend) {
  add_sensor({constant(Domain::package(0), 100.0)});
  EnergyRecorder recorder = start();
  recorder.read(false);
  clock_.suspend(20ms);
  clock_.advance(1s);
  recorder.read(false);
  EXPECT_EQ(figure(recorder, Domain::package(0)).energy, Joules(100.0));
}

TEST_F(EnergyRecorderTest, KeeperPeriodIsTheShortestOfAllCounters) {
  Channel fine = counter_channel(Domain::dram(0));
  fine.counter.tick = Joules(1.0 / 65536.0);
  add_sensor({constant(Domain::package(0), 1.0), constant_power(fine, Watts(1.0), begin_)});
  EXPECT_EQ(start().keeper_period(), keeper_period(fine.counter));
}

TEST_F(EnergyRecorderTest, WithoutSensorsHasNothingToSay) {
  EnergyRecorder recorder = start();
  recorder.read(true);
  EXPECT_THAT(recorder.results(begin_, begin_ + 1s), IsEmpty());
  EXPECT_EQ(recorder.interval_power(), std::nullopt);
  EXPECT_EQ(recorder.keeper_period(), 1min);
}

}  // namespace
}  // namespace wattle
