#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "energy/metered_machine.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::counter_channel;
using fakes::Shown;
using std::chrono::nanoseconds;
using tests::MeteredMachine;

/// Two counters that are renewed each millisecond, half a millisecond apart, under a power that
/// steps up while work is done. A read takes 2 us.
class AlignedMeter : public testing::Test {
 protected:
  AlignedMeter() {
    machine_.clock().advance_at_each_look(2us);
    machine_
        .shows({counter_channel(Domain::package(0)),
                [this](TimePoint now) { return shown(now, 0us); }})
        .shows({counter_channel(Domain::package(1)),
                [this](TimePoint now) { return shown(now, 500us); }})
        .aligned();
  }

  /// The true energy since the test's begin.
  [[nodiscard]] double energy_j(TimePoint now) const {
    double energy = kIdleW * Seconds(now - begin_).count();
    energy += other_load_w_ * Seconds(std::max<nanoseconds>(now - other_load_from_, 0ns)).count();
    for (const auto& [from, to] : works_) {
      const nanoseconds worked = std::clamp<nanoseconds>(now - from, 0ns, to - from);
      energy += (kWorkW - kIdleW) * Seconds(worked).count();
    }
    return energy;
  }
  [[nodiscard]] Shown shown(TimePoint now, nanoseconds phase) const {
    if (now >= fails_from_) return {.status = ReadStatus::retry};
    TimePoint updated = begin_ + phase;
    if (!stops_) updated += (now - updated) / kUpdate * kUpdate;
    const std::uint64_t ticks = static_cast<std::uint64_t>(energy_j(updated) * 16384.0) + start_;
    return {.raw = ticks % (std::uint64_t{1} << 32U)};
  }
  void work(nanoseconds length) {
    const TimePoint now = machine_.clock().at();
    works_.emplace_back(now, now + length);
    machine_.wait(length);
  }
  EnergyTrace measure(EnergyMeter& meter, nanoseconds length) {
    meter.start("x");
    work(length);
    meter.stop();
    return meter.trace();
  }

  static constexpr double kIdleW = 60.0;
  static constexpr double kWorkW = 200.0;
  static constexpr nanoseconds kUpdate = 1ms;

  MeteredMachine machine_;
  TimePoint begin_ = machine_.clock().at() - 10ms;
  std::vector<std::pair<TimePoint, TimePoint>> works_;
  TimePoint fails_from_ = TimePoint::max();
  bool stops_ = false;
  double other_load_w_ = 0.0;
  TimePoint other_load_from_;
  std::uint64_t start_ = 0;
};

/// Reads are 6 us apart, in which 0.36 mJ pass at 60 W; a tick is 0.06 mJ.
constexpr double kToleranceJ = 4e-4;

TEST_F(AlignedMeter, IsGoodToAFewTicksOverTenMilliseconds) {
  EnergyMeter meter = machine_.meter();
  const EnergyTrace trace = measure(meter, 10'300us);
  for (const char* domain : {"package_0", "package_1"}) {
    const MeasuredEnergy& energy = trace["x"].energy(domain);
    ASSERT_TRUE(energy.energy);
    EXPECT_NEAR(energy.energy->si(), kWorkW * 0.0103, kToleranceJ);
    EXPECT_LT(energy.uncertainty.si(), kToleranceJ) << "a plain window is good to some percent";
    EXPECT_TRUE(energy.flags.none());
  }
}

class AlignedMeterOver : public AlignedMeter, public testing::WithParamInterface<nanoseconds> {};

TEST_P(AlignedMeterOver, TakesOffWhatWasSpentWhileItWaited) {
  EnergyMeter meter = machine_.meter();
  const double true_j = kWorkW * Seconds(GetParam()).count();
  const EnergyTrace trace = measure(meter, GetParam());
  EXPECT_NEAR(trace["x"].energy("package_0").energy->si(), true_j, kToleranceJ);
  EXPECT_NEAR(trace["x"].energy("package_1").energy->si(), true_j, kToleranceJ);
}

INSTANTIATE_TEST_SUITE_P(PartsOfAnUpdate, AlignedMeterOver,
                         testing::Values(2'001us, 2'250us, 2'500us, 2'999us, 3'000us));

TEST_F(AlignedMeter, AlignsEachBorder) {
  EnergyMeter meter = machine_.meter();
  meter.start("a");
  work(5'400us);
  meter.record("b");
  work(7'700us);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  EXPECT_NEAR(trace["a"].energy("package_0").energy->si(), kWorkW * 0.0054, kToleranceJ);
  EXPECT_NEAR(trace["b"].energy("package_0").energy->si(), kWorkW * 0.0077, kToleranceJ);
  EXPECT_LT(trace["a"].duration(), 5'420us) << "the wait belongs to neither";
}

TEST_F(AlignedMeter, MeasuresThePowerOfWaitingAtEachResume) {
  EnergyMeter meter = machine_.meter();
  (void)measure(meter, 3'300us);
  meter.resume("again");
  work(3'300us);
  meter.stop();
  EXPECT_NEAR(meter.trace()["again"].energy("package_0").energy->si(), kWorkW * 0.0033,
              kToleranceJ);
}

TEST_F(AlignedMeter, GoesOnAcrossAWrap) {
  start_ = (std::uint64_t{1} << 32U) - 70'000;  // 4.3 J: 51 ms of waiting, and some of the work
  EnergyMeter meter = machine_.meter();
  const EnergyTrace trace = measure(meter, 10ms);
  EXPECT_NEAR(trace["x"].energy("package_0").energy->si(), kWorkW * 0.01, 0.01);
  EXPECT_TRUE(trace["x"].energy("package_0").flags.has(Flag::wrapped));
}

TEST_F(AlignedMeter, SaysNothingOfWhatHappenedBeforeItsBegin) {
  EnergyMeter meter = machine_.meter();
  (void)measure(meter, 1ms);
  begin_ = machine_.clock().at();  // the counters start again, long before the next window
  works_.clear();
  machine_.wait(10s);
  const EnergyTrace trace = measure(meter, 10ms);
  EXPECT_TRUE(trace["x"].energy("package_0").flags.none());
  EXPECT_NEAR(trace["x"].energy("package_0").energy->si(), kWorkW * 0.01, kToleranceJ);
}

TEST_F(AlignedMeter, FallsBackWhereTheCounterStandsStill) {
  stops_ = true;
  EnergyMeter meter = machine_.meter();
  const EnergyTrace trace = measure(meter, 10ms);
  EXPECT_TRUE(trace["x"].energy("package_0").flags.has(Flag::unaligned));
  EXPECT_EQ(trace["x"].energy("package_0").energy, Joules(0.0));
}

TEST_F(AlignedMeter, TakesNothingOffWhereThePowerOfWaitingIsNotKnown) {
  stops_ = true;
  EnergyMeter meter = machine_.meter();
  meter.start("idle");  // the counter stands still: nothing is learnt of waiting
  stops_ = false;
  machine_.wait(10ms);
  meter.record("first");
  work(10ms);
  meter.record("second");
  machine_.wait(10ms);
  meter.stop();
  const EnergyTrace trace = meter.trace();
  for (const char* tag : {"first", "second"}) {
    EXPECT_TRUE(trace[tag].energy("package_0").flags.has(Flag::unaligned)) << tag;
  }
  const MeasuredEnergy& second = trace["first"].energy("package_0");
  EXPECT_NEAR(second.energy->si(), kWorkW * 0.01, second.uncertainty.si());
}

TEST_F(AlignedMeter, KnowsLessWherePowerHasChangedSinceItsStart) {
  EnergyMeter meter = machine_.meter();
  meter.start("warm");
  machine_.wait(5ms);
  other_load_from_ = machine_.clock().at();
  other_load_w_ = 200.0;  // another job begins
  machine_.wait(5ms);
  for (int i = 0; i < 20; ++i) {
    meter.record("beside it");
    machine_.wait(10'370us);
  }
  meter.stop();
  int compared = 0;
  for (const EnergySample& sample : meter.trace()) {
    if (sample.tag() != "beside it") continue;
    const MeasuredEnergy& energy = sample.energy("package_0");
    const double true_j = (kIdleW + other_load_w_) * sample.duration().count();
    EXPECT_NEAR(energy.energy->si(), true_j, energy.uncertainty.si());
    ++compared;
  }
  EXPECT_EQ(compared, 20);
}

TEST_F(AlignedMeter, DoesNotWaitLongerThanThreeUpdates) {
  stops_ = true;
  EnergyMeter meter = machine_.meter();
  const TimePoint before = machine_.clock().at();
  meter.start();
  EXPECT_LT(machine_.clock().at() - before,
            3 * counter_channel(Domain::package(0)).update.p99 + 20us);
}

TEST_F(AlignedMeter, KnowsNothingWhereTheCountersFail) {
  fails_from_ = begin_;
  EnergyMeter meter = machine_.meter();
  const EnergyTrace trace = measure(meter, 10ms);
  EXPECT_EQ(trace["x"].energy("package_0").energy, std::nullopt);
  EXPECT_TRUE(trace["x"].energy("package_0").flags.has(Flag::unaligned));
  EXPECT_TRUE(trace["x"].energy("package_0").flags.has(Flag::gap));
}

TEST_F(AlignedMeter, KnowsNothingWhereTheCountersFailAtTheEnd) {
  EnergyMeter meter = machine_.meter();
  meter.start("x");
  fails_from_ = machine_.clock().at();
  machine_.wait(10ms);
  meter.stop();
  EXPECT_EQ(meter.trace()["x"].energy("package_0").energy, std::nullopt);
}

TEST_F(AlignedMeter, CallsAWindowBelowOneUpdateShort) {
  EnergyMeter meter = machine_.meter();
  const EnergyTrace trace = measure(meter, 400us);
  EXPECT_TRUE(trace["x"].energy("package_0").flags.has(Flag::short_window));
  EXPECT_NEAR(trace["x"].energy("package_0").energy->si(), kWorkW * 0.0004, kToleranceJ);
}

TEST_F(AlignedMeter, AlignsTheOthersWhereADomainMayBeMissing) {
  machine_.lacks(Domain::dram(0)).may_lack_domains();
  EnergyMeter meter = machine_.meter();
  const EnergyTrace trace = measure(meter, 10ms);
  EXPECT_NEAR(trace["x"].energy("package_1").energy->si(), kWorkW * 0.01, kToleranceJ);
  EXPECT_FALSE(trace["x"].energy("package_1").flags.has(Flag::unaligned));
  EXPECT_EQ(trace["x"].energy("dram_0").energy, std::nullopt);
}

TEST_F(AlignedMeter, RefusesAMissingDomainOtherwise) {
  machine_.lacks(Domain::dram(0));
  EXPECT_THROW((void)machine_.domains(), InvalidArgument);
}

TEST_F(AlignedMeter, RefusesCountersThatAreRenewedTooRarely) {
  Channel slow = counter_channel(Domain::dram(0));
  slow.update.mean = 100ms;
  machine_.shows({slow, [](TimePoint) { return Shown{}; }});
  try {
    (void)machine_.domains();
    FAIL() << "dram_0 is renewed ten times a second";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "cannot align to dram_0: it has no counter that is renewed at least every 5 ms; "
                 "leave it out, or measure without `aligned`");
  }
}

}  // namespace
}  // namespace wattle
