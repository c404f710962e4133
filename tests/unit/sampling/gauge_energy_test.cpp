#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "known_history.hpp"
#include "read_gauge.hpp"
#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(GaugeEnergy, OfAConstantPowerStoredOnce) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 10s, 100);
  const EnergyFigure figure = energy(history, 0s, 10s);
  EXPECT_EQ(history->values().size(), 1U);
  EXPECT_EQ(figure.energy, Joules(1000.0));
  EXPECT_EQ(figure.mean, Watts(100.0));
  EXPECT_EQ(figure.known, Seconds(10.0));
  EXPECT_EQ(figure.unknown, Seconds(0.0));
  EXPECT_EQ(figure.method, Method::integrated);
  EXPECT_EQ(figure.quantity, "power_instant");
  EXPECT_THAT(names(figure.flags), ElementsAre("coverage_unknown"));
}

TEST(GaugeEnergy, OfAStepIsThatOfAStep) {
  const StepAt5s history;
  EXPECT_EQ(energy(history, 0s, 10s).energy, Joules(2000.0)) << "no trapezoid";
  EXPECT_EQ(energy(history, 1s, 9s).energy, Joules(1600.0)) << "clipped at both ends";
  EXPECT_EQ(energy(history, 4999ms, 5001ms).energy, Joules(0.4));
}

TEST(GaugeEnergy, CountsTheValueHeldAtTheOpeningFromThere) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 10s, 100);
  EXPECT_EQ(energy(history, 3s + 50ms, 4s + 70ms).energy, Joules(102.0));
}

TEST(GaugeEnergy, UsesTheScaleOfTheChannel) {
  Channel milliwatts = whole_watts();
  milliwatts.gauge.scale = 1e-3;
  KnownHistory history(milliwatts);
  history.read_through(0s, 2s, 45'500);
  EXPECT_DOUBLE_EQ(energy(history, 0s, 2s).energy->si(), 91.0);
}

TEST(GaugeEnergy, HasAGapWhereNoValueIsToBeBelieved) {
  KnownHistory history(whole_watts());
  history.read(0s, 100);
  history.read_through(1s, 2s, 300);
  const EnergyFigure figure = energy(history, 0s, 2s);
  EXPECT_EQ(figure.energy, Joules(20.0 + 300.0)) << "100 W for 100 ms and one update more";
  EXPECT_EQ(figure.known, Seconds(1.2));
  EXPECT_EQ(figure.unknown, Seconds(0.8));
  EXPECT_DOUBLE_EQ(figure.mean->si(), 320.0 / 1.2) << "of what is known";
  EXPECT_THAT(names(figure.flags), ElementsAre("gap", "coverage_unknown"));
}

TEST(GaugeEnergy, IsUnknownBeforeTheFirstValueAndAfterTheLast) {
  KnownHistory history(whole_watts());
  history.read_through(1s, 2s, 100);
  const EnergyFigure figure = energy(history, 0s, 3s);
  EXPECT_EQ(figure.energy, Joules(120.0));
  EXPECT_EQ(figure.unknown, Seconds(1.8));
  EXPECT_THAT(names(figure.flags), ElementsAre("gap", "coverage_unknown"));
}

TEST(GaugeEnergy, EndsWithTheBeliefInALastValueThatCouldHaveBeenReadLessOften) {
  KnownHistory history(whole_watts(), {.period = 100ms, .longest_period = 800ms});
  history.read_through(0s, 1s, 100);
  const EnergyFigure figure = energy(history, 0s, 2s);
  EXPECT_EQ(figure.energy, Joules(120.0)) << "its reader is stuck";
  EXPECT_EQ(figure.unknown, Seconds(0.8));
}

TEST(GaugeEnergy, WithoutAnyValueIsUnknownAsAWhole) {
  KnownHistory history(whole_watts());
  history.fail(0s);
  const EnergyFigure figure = energy(history, 0s, 1s);
  EXPECT_EQ(figure.energy, std::nullopt);
  EXPECT_EQ(figure.mean, std::nullopt);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_THAT(names(figure.flags), ElementsAre("gap"));
}

TEST(GaugeEnergy, IsUnknownAcrossASuspend) {
  KnownHistory history(whole_watts());
  history.read(0ms, 100);
  history.read(100ms, 100);
  history.suspend();
  history.read(200ms, 100);
  history.read(300ms, 100);
  const EnergyFigure figure = energy(history, 0ms, 300ms);
  EXPECT_EQ(figure.energy, Joules(20.0));
  EXPECT_EQ(figure.unknown, Seconds(0.1));
  EXPECT_THAT(names(figure.flags), ElementsAre("gap", "coverage_unknown"));
}

TEST(GaugeEnergy, OfALostGpuSaysSo) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 1s, 100);
  for (int i = 1; i <= 10; ++i) history.fail(1s + i * 100ms, ReadStatus::gone);
  const EnergyFigure figure = energy(history, 0s, 2s);
  EXPECT_EQ(figure.energy, Joules(120.0));
  EXPECT_EQ(figure.unknown, Seconds(0.8));
  EXPECT_THAT(names(figure.flags), ElementsAre("gap", "lost", "coverage_unknown"));
}

TEST(GaugeEnergy, IsWholeThoughEveryOtherReadFails) {
  KnownHistory history(whole_watts());
  for (int i = 0; i <= 10; ++i) {
    history.read(i * 200ms, 100);
    history.fail(i * 200ms + 100ms);
  }
  const EnergyFigure figure = energy(history, 0s, 2s);
  EXPECT_EQ(figure.energy, Joules(200.0));
  EXPECT_THAT(names(figure.flags), ElementsAre("coverage_unknown"));
}

TEST(GaugeEnergy, OfNoPowerAtAllSaysZero) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 1s, 0);
  EXPECT_EQ(energy(history, 0s, 1s).energy, Joules(0.0));
  EXPECT_THAT(names(energy(history, 0s, 1s).flags), ElementsAre("zero", "coverage_unknown"));
}

TEST(GaugeEnergy, ShorterThanASpacingGivesABound) {
  KnownHistory history(whole_watts());
  history.read(0ms, 100);
  history.read(100ms, 100);
  const EnergyFigure figure = energy(history, 20ms, 70ms);
  EXPECT_EQ(figure.energy, Joules(5.0));
  EXPECT_GE(figure.uncertainty, Joules(5.0)) << "the value may be from before it";
  EXPECT_EQ(figure.mean, std::nullopt);
  EXPECT_THAT(names(figure.flags), ElementsAre("short_window", "coverage_unknown"));
}

// Means over time.

TEST(GaugeEnergy, OfMeansIsShiftedByHalfTheirWindowAndByHowLateTheyAreOnAverage) {
  // A second's means of 100 W, 300 W from 5 s on, after the mean of both has passed by; renewed
  // 50 ms before they are read, on average, and held for 50 ms more than they cover.
  KnownHistory history(mean_of(1s));
  history.read_through(0s, 5500ms, 100);
  history.read_through(5600ms, 10s, 300);
  const EnergyFigure figure = energy(history, 1s, 9s);
  EXPECT_EQ(figure.energy, Joules(4 * 100.0 + 4 * 300.0));
  EXPECT_EQ(figure.coverage, 1.0);
  EXPECT_THAT(names(figure.flags), IsEmpty());
}

TEST(GaugeEnergy, OfMeansThatOverlapWaitsForNoneThatIsToCome) {
  KnownHistory history(mean_of(1s));
  history.read_through(0s, 5s, 100);
  const EnergyFigure figure = energy(history, 1s, 5s);
  EXPECT_NEAR(figure.energy->si(), 400.0, kNothingJ);
  EXPECT_EQ(figure.unknown, Seconds(0.0));
  EXPECT_THAT(names(figure.flags), IsEmpty());
}

TEST(GaugeEnergy, TakesTheLastValueForAMeanThatIsToComeWhereAnotherOneIsUnknown) {
  KnownHistory history(mean_of(1s));
  history.read_through(0s, 1s, 100);
  history.read_through(3s, 6s, 100);
  const EnergyFigure figure = energy(history, 500ms, 6s);
  EXPECT_EQ(figure.energy, Joules(370.0));
  EXPECT_EQ(figure.unknown, Seconds(1.8));
  EXPECT_THAT(names(figure.flags), ElementsAre("gap", "estimated"));
}

/// What a mean over a second, renewed each 100 ms, shows of 100 W, and of 300 W from `step` on.
std::uint64_t second_before(nanoseconds at, nanoseconds step) {
  const double part = std::clamp(Seconds(at - step).count(), 0.0, 1.0);
  return static_cast<std::uint64_t>(std::llround(100.0 + 200.0 * part));
}

TEST(GaugeEnergy, OfMeansTakesTheLastOnesForTheEndsInsteadOfMovingThem) {
  // The work takes the window, from 5 to 9 s: moved by half a second, its values miss an eighth of
  // a second's change at either end.
  KnownHistory history(mean_of(1s));
  for (nanoseconds at = 0s; at <= 9s; at += 100ms) history.read(at, second_before(at, 5s));
  const EnergyFigure figure = energy(history, 5s, 9s);
  EXPECT_NEAR(figure.energy->si(), 1200.0, 10.0) << "half of 100 ms, which nobody can know";
  EXPECT_LT(figure.uncertainty.si(), 40.0);
}

TEST(GaugeEnergy, OfAStepWithinTheLastMeanIsExact) {
  KnownHistory history(mean_of(1s));
  for (nanoseconds at = 0s; at <= 6s; at += 100ms) history.read(at, second_before(at, 5600ms));
  EXPECT_NEAR(energy(history, 1s, 6s).energy->si(), 460.0 + 120.0, 10.0);
}

TEST(GaugeEnergy, EstimatesNoMoreThanTheWindow) {
  KnownHistory history(mean_of(1s));
  history.read_through(0s, 5s, 100);
  const EnergyFigure figure = energy(history, 4900ms, 5s);
  EXPECT_DOUBLE_EQ(figure.energy->si(), 10.0);
  EXPECT_EQ(figure.known, Seconds(0.1));
  EXPECT_EQ(figure.unknown, Seconds(0.0));
}

TEST(GaugeEnergy, EstimatesNothingForASensorThatIsGone) {
  KnownHistory history(mean_of(1s));
  history.read_through(0s, 3s, 100);
  const EnergyFigure figure = energy(history, 1s, 5s);
  EXPECT_EQ(figure.energy, Joules(160.0)) << "until 3.2 s the values tell of, 0.6 s back";
  EXPECT_THAT(names(figure.flags), ElementsAre("gap"));
}

TEST(GaugeEnergy, OfAnEstimatedTailIsLessCertain) {
  KnownHistory history(mean_of(1s));
  history.read_through(0s, 4900ms, 100);
  history.read_through(5s, 5s, 300);
  const Joules early = energy(history, 1s, 5s).uncertainty;
  history.read_through(5100ms, 6s, 300);
  const EnergyFigure late = energy(history, 1s, 5s);
  EXPECT_THAT(names(late.flags), IsEmpty());
  EXPECT_GT(early, late.uncertainty);
}

TEST(GaugeEnergy, OfMeansOfWhichTheLastShowsTheBeginOfAChangeIsLessCertain) {
  KnownHistory history(mean_of(1s));
  history.read_through(0s, 4900ms, 100);
  history.read(5s, 120);
  // 20 W of a mean over ten samples are 200 W, of which the next one may show four times as much.
  const double change_w = 4.0 * 200.0;
  const double unseen_j = 2.0 * change_w * 0.1 / std::sqrt(3.0);
  EXPECT_GT(energy(history, 1s, 5s).uncertainty.si(), unseen_j);
  EXPECT_LT(energy(history, 1s, 5s).uncertainty.si(), 1.2 * unseen_j);
}

/// The value follows the power with a first-order lag.
Channel lagging_by(nanoseconds time_constant) {
  Channel channel = whole_watts();
  channel.gauge.time_constant = time_constant;
  return channel;
}

TEST(GaugeEnergy, OfAGaugeThatLagsIsThatOfAStep) {
  KnownHistory history(lagging_by(300ms));
  history.read_through(0s, 5300ms, 100);
  history.read_through(5400ms, 10s, 300);
  const EnergyFigure figure = energy(history, 1s, 9s);
  EXPECT_NEAR(figure.energy->si(), 4 * 100.0 + 4 * 300.0, kNothingJ) << "0.3 s, and half of 0.2 s";
  EXPECT_EQ(figure.coverage, 1.0);
  EXPECT_THAT(names(figure.flags), IsEmpty());
}

TEST(GaugeEnergy, OfAGaugeThatLagsKnowsWhatItsValueIsStillOnTheWayTo) {
  // 100 W, and 300 W from 5 s to the window's end.
  KnownHistory history(lagging_by(300ms));
  for (nanoseconds at = 0s; at <= 5500ms; at += 100ms) {
    const double since_s = std::max(0.0, Seconds(at - 5s).count());
    history.read(
        at, static_cast<std::uint64_t>(std::llround(300.0 - 200.0 * std::exp(-since_s / 0.3))));
  }
  const EnergyFigure figure = energy(history, 1s, 5500ms);
  EXPECT_NEAR(figure.energy->si(), 400.0 + 150.0, 12.0) << "half of 100 ms, which nobody can know";
  EXPECT_LT(figure.uncertainty.si(), 45.0);
}

TEST(GaugeEnergy, OfAGaugeThatNobodyKnowsIsAsUncertainHoweverOftenItIsRead) {
  Channel unlisted = whole_watts();
  unlisted.update = {};
  KnownHistory often(unlisted, {.period = 20ms});
  KnownHistory calmly(unlisted, {.period = 100ms});
  for (int look = 0; look <= 200; ++look) {
    const std::uint64_t power = look < 100 ? 100 : 300;
    often.read(look * 20ms, power);
    if (look % 5 == 0) calmly.read(look * 20ms, power);
  }
  const double often_j = energy(often, 1s, 3s).uncertainty.si();
  const double calmly_j = energy(calmly, 1s, 3s).uncertainty.si();
  EXPECT_GT(often_j, 0.8 * calmly_j) << "what is read between two updates is nothing new";
}

TEST(GaugeEnergy, OfAGaugeThatNobodyKnowsHasNoGapWhereAReadIsLate) {
  Channel unlisted = whole_watts();
  unlisted.update = {};
  KnownHistory history(unlisted, {.period = 20ms});
  for (int look = 0; look <= 100; ++look) {
    if (look < 50 || look > 53) history.read(look * 20ms, 100);
  }
  const EnergyFigure figure = energy(history, 0s, 2s);
  EXPECT_EQ(figure.unknown, Seconds(0.0));
  EXPECT_THAT(names(figure.flags), ElementsAre("coverage_unknown"));
}

// How much of the time the sensor sees.

TEST(GaugeEnergy, OfASensorThatLooksAtAPartOfTheTimeSaysSo) {
  KnownHistory history(mean_of(25ms));
  history.read_through(0s, 10s, 100);
  const EnergyFigure figure = energy(history, 1s, 9s);
  EXPECT_EQ(figure.coverage, 0.25);
  EXPECT_THAT(names(figure.flags), ElementsAre("partial_coverage"));
}

TEST(GaugeEnergy, OfMeansReadTooSeldomHasPartialCoverage) {
  KnownHistory history(mean_of(100ms), {.period = 400ms});
  for (int i = 0; i <= 10; ++i) history.read(i * 400ms, 100);
  EXPECT_EQ(energy(history, 0s, 3s).coverage, 0.25);
}

TEST(GaugeEnergy, DoesNotInventACoverage) {
  const EnergyFigure figure = energy(StepAt5s(), 1s, 9s);
  EXPECT_EQ(figure.coverage, std::nullopt);
  EXPECT_FALSE(figure.flags.has(Flag::partial_coverage));
}

// Uncertainty.

}  // namespace
}  // namespace wattle
