#include "sampling/measured_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/one_window.hpp"
#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::constant_power;
using fakes::counter_channel;
using fakes::OneWindow;
using fakes::ScriptedCounter;
using fakes::ScriptedSensor;
using fakes::Shown;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kTickJ = 1.0 / 16384.0;

class WindowOfCounters : public testing::Test {
 protected:
  void add_sensor(std::vector<ScriptedCounter> counters) {
    sensors_.push_back(std::make_unique<ScriptedSensor>(std::move(counters), clock_));
  }
  OneWindow start() { return {std::move(sensors_), clock_}; }
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
  [[nodiscard]] EnergyFigure figure(const OneWindow& recorder, Domain domain) const {
    for (const auto& result : recorder.figures(begin_, clock_.at())) {
      if (result.domain == domain) return result.figure;
    }
    throw std::out_of_range("no result for " + domain.name());
  }

  fakes::VirtualClock clock_;
  TimePoint begin_ = clock_.at();
  std::vector<std::unique_ptr<Sensor>> sensors_;
};

TEST_F(WindowOfCounters, HasThePowerOfEachOfItsParts) {
  add_sensor({constant(Domain::package(0), 200.0)});
  OneWindow recorder = start();
  recorder.read(false);
  for (int i = 0; i < 100; ++i) {
    clock_.advance(100ms);
    recorder.read(true);
  }
  for (const auto& from : {0s, 4s, 9s}) {
    const auto part = recorder.figures_within(begin_ + from, begin_ + from + 1s);
    EXPECT_NEAR(part.at(0).figure.energy.value().si(), 200.0, 0.2) << from.count();
  }
}

TEST_F(WindowOfCounters, MeasuresEveryCounterOfEverySensor) {
  add_sensor({constant(Domain::package(0), 100.0), constant(Domain::dram(0), 8.0)});
  add_sensor({constant(Domain::package(1), 60.0)});
  OneWindow recorder = start();
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

TEST_F(WindowOfCounters, ListsResultsInTheOrderOfDomains) {
  add_sensor({constant(Domain::psys(), 1.0)});
  add_sensor({constant(Domain::package(1), 1.0), constant(Domain::dram(1), 1.0)});
  add_sensor({constant(Domain::package(0), 1.0), constant(Domain::core(0), 1.0)});
  const OneWindow recorder = start();
  std::vector<std::string> names;
  for (const auto& result : recorder.figures(begin_, begin_)) {
    names.push_back(result.domain.name());
  }
  EXPECT_THAT(names, ElementsAre("package_0", "package_1", "dram_1", "core_0", "psys"));
}

TEST_F(WindowOfCounters, IntervalPowerLeavesOutAStuckCounter) {
  add_sensor({constant(Domain::package(0), 100.0), constant(Domain::dram(0), 0.0)});
  OneWindow recorder = start();
  recorder.read(true);
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), Watts(100.0));
  EXPECT_EQ(recorder.interval_power(Domain::dram(0)), std::nullopt);
}

TEST_F(WindowOfCounters, IsExactAcrossAWrap) {
  const std::uint64_t close_to_the_end = 0xFFFFFFFF - 1000;
  add_sensor({constant_power(counter_channel(Domain::package(0)), Watts(100.0), begin_,
                             close_to_the_end)});
  OneWindow recorder = start();
  recorder.read(false);
  clock_.advance(12'345'678ns);
  recorder.read(false);
  const auto ticks = static_cast<std::uint64_t>(100.0 * 0.012345678 / kTickJ);
  const EnergyFigure seen = figure(recorder, Domain::package(0));
  EXPECT_EQ(seen.energy, Joules(kTickJ * static_cast<double>(ticks)));
  EXPECT_TRUE(seen.flags.has(Flag::wrapped));
}

TEST_F(WindowOfCounters, OneSensorThatFailsDoesNotHideTheOthers) {
  add_sensor({failing(Domain::package(0), 1ns), constant(Domain::dram(0), 8.0)});
  add_sensor({constant(Domain::package(1), 60.0)});
  OneWindow recorder = start();
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(false);
  EXPECT_EQ(figure(recorder, Domain::package(0)).energy, std::nullopt);
  EXPECT_EQ(figure(recorder, Domain::package(0)).unknown, Seconds(1.0));
  EXPECT_EQ(figure(recorder, Domain::package(1)).energy, Joules(60.0));
  EXPECT_EQ(figure(recorder, Domain::dram(0)).energy, Joules(8.0));
}

TEST_F(WindowOfCounters, IntervalPowerIsThatOfTheTotal) {
  add_sensor({constant(Domain::package(0), 100.0), constant(Domain::dram(0), 8.0),
              constant(Domain::core(0), 70.0)});
  add_sensor({constant(Domain::psys(), 200.0)});
  OneWindow recorder = start();
  recorder.read(false);
  EXPECT_EQ(recorder.interval_power(), std::nullopt) << "none has ended";
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), Watts(108.0)) << "cores and platform are in there already";
}

TEST_F(WindowOfCounters, IntervalPowerIsAbsentWhereAPartOfItIsUnknown) {
  add_sensor({constant(Domain::package(0), 100.0), failing(Domain::dram(0), 2s)});
  OneWindow recorder = start();
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), Watts(110.0));
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), std::nullopt);
}

TEST_F(WindowOfCounters, TimeAcrossASuspendIsUnknown) {
  add_sensor({constant(Domain::package(0), 100.0)});
  OneWindow recorder = start();
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

TEST_F(WindowOfCounters, TimeAcrossEachOfSeveralSuspendsIsUnknown) {
  add_sensor({constant(Domain::package(0), 100.0)});
  OneWindow recorder = start();
  recorder.read(false);
  for (int i = 0; i < 3; ++i) {
    clock_.suspend(1min);
    clock_.advance(1s);
    recorder.read(false);
  }
  EXPECT_EQ(figure(recorder, Domain::package(0)).energy, std::nullopt);
  EXPECT_EQ(figure(recorder, Domain::package(0)).unknown, Seconds(3.0));
}

TEST_F(WindowOfCounters, SuspendBeforeTheStartIsForgotten) {
  clock_.suspend(8h);
  add_sensor({constant(Domain::package(0), 100.0)});
  OneWindow recorder = start();
  recorder.read(false);
  clock_.advance(1s);
  recorder.read(false);
  EXPECT_EQ(figure(recorder, Domain::package(0)).unknown.count(), 0.0);
}

TEST_F(WindowOfCounters, TakesTheNoiseOfTwoClocksForNoSuspend) {
  add_sensor({constant(Domain::package(0), 100.0)});
  OneWindow recorder = start();
  recorder.read(false);
  clock_.suspend(20ms);
  clock_.advance(1s);
  recorder.read(false);
  EXPECT_EQ(figure(recorder, Domain::package(0)).energy, Joules(100.0));
}

TEST_F(WindowOfCounters, KeeperPeriodIsTheShortestOfAllCounters) {
  Channel fine = counter_channel(Domain::dram(0));
  fine.counter.tick = Joules(1.0 / 65536.0);
  add_sensor({constant(Domain::package(0), 1.0), constant_power(fine, Watts(1.0), begin_)});
  EXPECT_EQ(start().readings().keeper_period(), keeper_period(fine.counter));
}

TEST_F(WindowOfCounters, IntervalPowerOfAGaugeIsThatOfTheValuesItHad) {
  Channel gauge{.domain = Domain::package(0), .metric = Metric::power_instant};
  add_sensor({{gauge, [this](TimePoint now) {
                 const bool fails = now > begin_ + 100ms && now < begin_ + 500ms;
                 return Shown{.raw = 100, .status = fails ? ReadStatus::retry : ReadStatus::ok};
               }}});
  OneWindow recorder = start();
  recorder.read(true);
  for (int i = 1; i <= 10; ++i) {
    clock_.advance(100ms);
    recorder.read(i == 10);
  }
  EXPECT_EQ(recorder.interval_power(), Watts(100.0)) << "of eight tenths of the interval";
  clock_.advance(1s);
  recorder.read(true);
  EXPECT_EQ(recorder.interval_power(), std::nullopt) << "most of it is not known";
}

TEST_F(WindowOfCounters, WithoutSensorsHasNothingToSay) {
  OneWindow recorder = start();
  recorder.read(true);
  EXPECT_THAT(recorder.figures(begin_, begin_ + 1s), IsEmpty());
  EXPECT_EQ(recorder.interval_power(), std::nullopt);
  EXPECT_EQ(recorder.readings().keeper_period(), 1min);
}

/// A counter of half joules of which each test says what it shows at each reading.
class Intervals : public testing::Test {
 protected:
  void read(std::chrono::nanoseconds at, std::uint64_t raw, bool ends_interval = false) {
    show(at, {.raw = raw}, ends_interval);
  }
  void fail(std::chrono::nanoseconds at, bool ends_interval = false) {
    show(at, {.status = ReadStatus::retry}, ends_interval);
  }
  void suspend() { clock_.suspend(1h); }
  [[nodiscard]] EnergyFigure until(std::chrono::nanoseconds end) {
    return recorder().figures(begin_, begin_ + end).at(0).figure;
  }
  OneWindow& recorder() { return *recorder_; }

 private:
  void show(std::chrono::nanoseconds at, Shown shown, bool ends_interval) {
    clock_.advance(begin_ + at - clock_.at());
    shown_ = shown;
    if (!recorder_) {
      Channel channel = counter_channel(Domain::package(0));
      channel.counter = {.tick = Joules(0.5), .modulus = 1000, .max_power = Watts(100.0)};
      std::vector<std::unique_ptr<Sensor>> sensors;
      sensors.push_back(std::make_unique<ScriptedSensor>(
          std::vector<ScriptedCounter>{{channel, [this](TimePoint) { return shown_; }}}, clock_));
      recorder_.emplace(std::move(sensors), clock_);
    }
    recorder_->read(ends_interval);
  }

  fakes::VirtualClock clock_;
  TimePoint begin_ = clock_.at();
  Shown shown_;
  std::optional<OneWindow> recorder_;
};

TEST_F(Intervals, MaxIsTheHighestMeanOfAnInterval) {
  read(0s, 0);
  read(1s, 40, true);
  read(2s, 160, true);
  read(3s, 220, true);
  EXPECT_EQ(until(3s).max, Watts(60.0));
  EXPECT_EQ(recorder().interval_power(), Watts(30.0)) << "of the last one";
}

TEST_F(Intervals, MaxHasTheUncertaintyOfItsIntervalNotOfTheWindow) {
  read(0s, 0);
  read(1s, 40, true);
  read(2s, 160, true);
  read(3s, 220, true);
  const EnergyFigure figure = until(3s);
  // Two roundings to a tick of 0.5 J, in a second: k = 2. And a little for the reads.
  ASSERT_TRUE(figure.max_uncertainty);
  EXPECT_NEAR(figure.max_uncertainty->si(), 2.0 * 0.5 / std::sqrt(6.0), 0.05);
  EXPECT_EQ(until(3s).max, Watts(60.0));
}

TEST_F(Intervals, MaxHasNoUncertaintyWithoutAMax) {
  read(0s, 0);
  read(1s, 40, true);
  EXPECT_EQ(until(1s).max_uncertainty, std::nullopt);
}

TEST_F(Intervals, MaxIsAbsentUnderTwoIntervals) {
  read(0s, 0);
  EXPECT_EQ(recorder().interval_power(), std::nullopt);
  read(1s, 40, true);
  read(1500ms, 60);
  EXPECT_EQ(until(1500ms).max, std::nullopt);
  EXPECT_EQ(recorder().interval_power(), Watts(20.0));
}

TEST_F(Intervals, IntervalTakesTheReadsInBetween) {
  read(0s, 0);
  read(500ms, 90);
  read(1s, 100, true);
  EXPECT_EQ(recorder().interval_power(), Watts(50.0));
}

TEST_F(Intervals, FailedReadDoesNotInflateTheNextInterval) {
  read(0s, 0);
  read(1s, 100, true);
  fail(2s, true);
  EXPECT_EQ(recorder().interval_power(), std::nullopt);
  read(3s, 300, true);
  EXPECT_EQ(recorder().interval_power(), std::nullopt) << "200 ticks, but in two intervals";
  read(4s, 380, true);
  EXPECT_EQ(recorder().interval_power(), Watts(40.0));
  EXPECT_EQ(until(4s).max, Watts(50.0));
  EXPECT_EQ(until(4s).energy, Joules(190.0)) << "and the energy is whole";
}

TEST_F(Intervals, IntervalWithAnUnknownPartHasNoPower) {
  read(0s, 500);
  read(500ms, 50);
  read(1s, 60, true);
  EXPECT_EQ(recorder().interval_power(), std::nullopt) << "a reset in it";
  suspend();
  read(2s, 70, true);
  EXPECT_EQ(recorder().interval_power(), std::nullopt) << "a suspend in it";
  read(3s, 80, true);
  EXPECT_EQ(recorder().interval_power(), Watts(5.0));
}

TEST_F(Intervals, IntervalThatBeganWithoutAValueHasNoPower) {
  fail(0s);
  read(500ms, 50);
  read(1s, 150, true);
  EXPECT_EQ(recorder().interval_power(), std::nullopt);
  read(2s, 200, true);
  EXPECT_EQ(recorder().interval_power(), Watts(25.0));
}

}  // namespace
}  // namespace wattle
