#include "sampling/aligned_window.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>

#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::counter_channel;
using fakes::ScriptedCounter;
using fakes::ScriptedSensor;
using fakes::Shown;
using std::chrono::nanoseconds;

/// A counter that is renewed each millisecond, under a power that steps up while work is done. A
/// read takes 2 us.
class Aligned : public testing::Test {
 protected:
  Aligned() { clock_.advance_at_each_look(2us); }

  /// The true energy since the test's begin.
  [[nodiscard]] double energy_j(TimePoint now) const {
    const auto until = [&](TimePoint end) { return Seconds(std::max(end - begin_, 0ns)).count(); };
    const double working_s = until(std::min(now, work_end_)) - until(std::min(now, work_begin_));
    return kIdleW * until(now) + (kWorkW - kIdleW) * working_s;
  }
  [[nodiscard]] Shown shown(TimePoint now) const {
    if (now >= fails_from_) return {.status = ReadStatus::retry};
    const TimePoint updated = stops_ ? begin_ : begin_ + (now - begin_) / kUpdate * kUpdate;
    return {.raw = static_cast<std::uint64_t>(energy_j(updated) * 16384.0) + start_};
  }
  AlignedWindow& window() {
    if (!window_) window_.emplace(sensor_, 0, clock_);
    return *window_;
  }
  /// Works for so long, between a begin and an end.
  EnergyFigure measure(nanoseconds length) {
    window().begin();
    work_begin_ = clock_.at();
    work_end_ = work_begin_ + length;
    clock_.advance(length);
    return window().end();
  }

  static constexpr double kIdleW = 60.0;
  static constexpr double kWorkW = 200.0;
  static constexpr nanoseconds kUpdate = 1ms;

  fakes::VirtualClock clock_;
  TimePoint begin_ = clock_.at();
  TimePoint work_begin_ = TimePoint::max();
  TimePoint work_end_ = TimePoint::max();
  TimePoint fails_from_ = TimePoint::max();
  bool stops_ = false;
  std::uint64_t start_ = 0;
  ScriptedSensor sensor_{
      {{counter_channel(Domain::package(0)), [this](TimePoint now) { return shown(now); }}},
      clock_};
  std::optional<AlignedWindow> window_;
};

/// Reads are 2 us apart, in which 0.12 mJ pass at 60 W; a tick is 0.06 mJ.
constexpr double kToleranceJ = 2e-4;

TEST_F(Aligned, IsGoodToAFewTicksOverTenMilliseconds) {
  const EnergyFigure figure = measure(10'300us);
  const double true_j = kWorkW * 0.0103;
  ASSERT_TRUE(figure.energy);
  EXPECT_NEAR(figure.energy->si(), true_j, kToleranceJ);
  EXPECT_LT(figure.uncertainty.si(), kToleranceJ) << "a plain window is good to some percent";
  EXPECT_EQ(figure.flags, Flags());
  EXPECT_NEAR(figure.mean->si(), kWorkW, 0.005 * kWorkW);
}

class AlignedOver : public Aligned, public testing::WithParamInterface<nanoseconds> {};

TEST_P(AlignedOver, TakesOffWhatWasSpentWhileItWaited) {
  const double true_j = kWorkW * Seconds(GetParam()).count();
  EXPECT_NEAR(measure(GetParam()).energy->si(), true_j, kToleranceJ);
}

INSTANTIATE_TEST_SUITE_P(PartsOfAnUpdate, AlignedOver,
                         testing::Values(2'001us, 2'250us, 2'500us, 2'999us, 3'000us));

TEST_F(Aligned, GoesOnAcrossAWrap) {
  start_ = (std::uint64_t{1} << 32U) - 70'000;  // 4.3 J: 51 ms of waiting, and some of the work
  ScriptedSensor wrapping({{counter_channel(Domain::package(0)),
                            [this](TimePoint now) {
                              Shown now_shown = shown(now);
                              now_shown.raw %= std::uint64_t{1} << 32U;
                              return now_shown;
                            }}},
                          clock_);
  window_.emplace(wrapping, 0, clock_);
  const EnergyFigure figure = measure(10ms);
  EXPECT_NEAR(figure.energy->si(), kWorkW * 0.01, 0.01);
  EXPECT_TRUE(figure.flags.has(Flag::wrapped));
}

TEST_F(Aligned, SaysNothingOfWhatHappenedBeforeItsBegin) {
  (void)measure(1ms);
  start_ = 0;
  begin_ = clock_.at();  // the counter starts again, long before the next window
  work_begin_ = work_end_ = TimePoint::max();
  clock_.advance(10s);
  const EnergyFigure figure = measure(10ms);
  EXPECT_EQ(figure.flags, Flags());
  EXPECT_NEAR(figure.energy->si(), kWorkW * 0.01, kToleranceJ);
}

TEST_F(Aligned, FallsBackWhereTheCounterStandsStill) {
  stops_ = true;
  const EnergyFigure figure = measure(10ms);
  EXPECT_TRUE(figure.flags.has(Flag::unaligned));
  EXPECT_EQ(figure.energy, Joules(0.0));
}

TEST_F(Aligned, DoesNotWaitLongerThanThreeUpdates) {
  stops_ = true;
  window().begin();
  EXPECT_LT(clock_.at() - begin_, 3 * counter_channel(Domain::package(0)).update.p99 + 10us);
}

TEST_F(Aligned, KnowsNothingWhereTheCounterFails) {
  fails_from_ = begin_;
  const EnergyFigure figure = measure(10ms);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(0.010002)) << "and the look at the clock";
  EXPECT_TRUE(figure.flags.has(Flag::unaligned) && figure.flags.has(Flag::gap));
}

TEST_F(Aligned, KnowsNothingWhereTheCounterFailsAtTheEnd) {
  window().begin();
  fails_from_ = clock_.at();
  clock_.advance(10ms);
  EXPECT_EQ(window().end().energy, std::nullopt);
}

TEST_F(Aligned, GivesNoPowerBelowOneUpdate) {
  const EnergyFigure figure = measure(400us);
  EXPECT_TRUE(figure.flags.has(Flag::short_window));
  EXPECT_EQ(figure.mean, std::nullopt);
  EXPECT_NEAR(figure.energy->si(), kWorkW * 0.0004, kToleranceJ);
}

TEST_F(Aligned, RefusesCountersThatAreRenewedTooRarely) {
  Channel slow = counter_channel(Domain::nvidia_gpu(0));
  slow.update.mean = 100ms;
  ScriptedSensor sensor({{slow, [](TimePoint) { return Shown{}; }}}, clock_);
  EXPECT_THROW(AlignedWindow(sensor, 0, clock_), InvalidArgument);
}

TEST_F(Aligned, RefusesWhatIsNoCounter) {
  Channel gauge = counter_channel(Domain::package(0));
  gauge.metric = Metric::power_instant;
  ScriptedSensor sensor({{gauge, [](TimePoint) { return Shown{}; }}}, clock_);
  EXPECT_THROW(AlignedWindow(sensor, 0, clock_), InvalidArgument);
  EXPECT_THROW(AlignedWindow(sensor, 1, clock_), InvalidArgument);
}

}  // namespace
}  // namespace wattle
