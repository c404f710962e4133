#include "sampling/uncertainty.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr double kRounding = 1e-9;

/// A window in which nothing is uncertain; each test adds one term.
CounterWindowFacts certain() {
  return {.power_at_begin = Watts(0.0),
          .power_before_end = Watts(0.0),
          .begin_half_width = 0ns,
          .end_half_width = 0ns,
          .tick = Joules(0.0),
          .update = {.mean = 0ns, .spread = 0ns, .p99 = 0ns}};
}

TEST(Uncertainty, IsNoneWhereNothingIsUncertain) {
  EXPECT_EQ(plain_counter_uncertainty(certain()), Joules(0.0));
}

TEST(Uncertainty, OfTheEndsByTheAgeOfTheirValuesAndThePowerThatIsNotSeen) {
  CounterWindowFacts window = certain();
  window.update.mean = 1ms;
  window.power_at_begin = Watts(300.0);
  window.power_before_end = Watts(300.0);
  // 2 x sqrt(2 x 300^2 x 0.001^2 x (1/12 + 4/3 x 1/3))
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.6164414002968976, kRounding);
}

TEST(Uncertainty, OfEndsThatDifferByTheMeanAgeToo) {
  CounterWindowFacts window = certain();
  window.update.mean = 1ms;
  window.power_before_end = Watts(300.0);
  // 2 x sqrt(300^2 x 0.001^2 x (1/12 + 1/4 + 4/3 x 1/3))
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.5291502622129181, kRounding);
}

TEST(Uncertainty, OfTheEndsByTheSpread) {
  CounterWindowFacts window = certain();
  window.update.mean = 1ms;
  window.update.spread = 270us;
  window.power_at_begin = Watts(100.0);
  window.power_before_end = Watts(100.0);
  // E[a] is 0.53645 ms, E[a^2] is 0.40623 ms^2
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.2297997694129004, kRounding);
}

TEST(Uncertainty, OfRoundedEndsIsAMultipleOfTheQuantumAndOneMore) {
  EXPECT_EQ(rounded_uncertainty(Joules(0.0), Joules(0.5)), Joules(0.5));
  EXPECT_EQ(rounded_uncertainty(Joules(0.01), Joules(0.5)), Joules(1.0));
  EXPECT_EQ(rounded_uncertainty(Joules(1.5), Joules(0.5)), Joules(2.0));
}

TEST(Uncertainty, OfRoundingToATick) {
  CounterWindowFacts window = certain();
  window.tick = Joules(0.6);
  // 2 x sqrt(0.6^2 / 6)
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.4898979485566356, kRounding);
}

TEST(Uncertainty, OfWhenTheReadsTookPlace) {
  CounterWindowFacts window = certain();
  window.power_at_begin = Watts(300.0);
  window.begin_half_width = 10us;
  window.power_before_end = Watts(100.0);
  window.end_half_width = 40us;
  // 2 x sqrt((0.003^2 + 0.004^2) / 3)
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.0057735026918962576, kRounding);
}

TEST(Uncertainty, AddsItsTermsInQuadrature) {
  CounterWindowFacts window = certain();
  window.power_at_begin = Watts(100.0);
  window.power_before_end = Watts(100.0);
  window.begin_half_width = 30us;
  window.end_half_width = 30us;
  window.tick = Joules(1.0 / 16384.0);
  window.update = {.mean = 1ms, .spread = 270us, .p99 = 1650us};
  // ages 2 x 10^4 x 1.1846e-7, unseen 2 x 10^4 x 4/3 x 4.0623e-7, rounding 6.2e-10,
  // reads 2 x 10^4 x 9e-10 / 3
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.2298519882571153, kRounding);
}

TEST(Uncertainty, OfNoPowerIsThatOfTheTicks) {
  CounterWindowFacts window = certain();
  window.tick = Joules(0.6);
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.4898979485566356, kRounding);
}

/// A window of a gauge that sees all the time, and a power that does not change.
GaugeWindowFacts steady() {
  return {.length = Seconds(10.0),
          .spacing = 100ms,
          .window = 0ns,
          .coverage = 1.0,
          .scatter_w2 = 0.0,
          .change_at_begin = Watts(0.0),
          .change_at_end = Watts(0.0),
          .change_overall = Watts(0.0),
          .lateness = 0ns,
          .lateness_range = 0ns,
          .open_end = 0ns,
          .change_since = Watts(0.0),
          .step = Watts(0.0)};
}

TEST(GaugeUncertainty, IsNoneWhereNothingIsUncertain) {
  EXPECT_EQ(gauge_uncertainty(steady()), Joules(0.0));
}

TEST(GaugeUncertainty, OfWhatHappenedWhileNobodyLooked) {
  GaugeWindowFacts window = steady();
  window.scatter_w2 = 20'000.0;
  EXPECT_EQ(gauge_uncertainty(window), Joules(0.0)) << "all of it was seen";
  window.coverage = 0.25;
  // 2 x sqrt(0.1^2 x 0.75 x 1.125 x 20000)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 25.98076211353316, kRounding);
}

TEST(GaugeUncertainty, OfAnythingInOneStretchThatWasNotSeen) {
  GaugeWindowFacts window = steady();
  window.mean = Watts(200.0);
  window.coverage = 0.25;
  // 2 x sqrt((200 x 0.1 x 0.75)^2 / 24)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 6.123724356957945, kRounding);
}

TEST(GaugeUncertainty, OfTheEndsByTheValuesThatTheyCut) {
  GaugeWindowFacts window = steady();
  window.change_at_begin = Watts(30.0);
  window.change_at_end = Watts(40.0);
  // 2 x sqrt((30^2 + 40^2) x 0.1^2 / 12)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 2.886751345948129, kRounding);
  window.coverage = 0.0;
  // 2 x sqrt((30^2 + 40^2) x 0.1^2 / 36)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 1.6666666666666667, kRounding);
}

TEST(GaugeUncertainty, OfTheEndsByALatenessThatWasNotAllowedFor) {
  GaugeWindowFacts window = steady();
  window.change_at_begin = Watts(30.0);
  window.change_at_end = Watts(40.0);
  window.lateness = 100ms;
  // 2 x sqrt((30^2 + 40^2) x 0.1^2 x (1 / 12 + 1 / 3))
  EXPECT_NEAR(gauge_uncertainty(window).si(), 6.454972243679028, kRounding);
}

TEST(GaugeUncertainty, OfTheEndsByTheSmearOfAMean) {
  GaugeWindowFacts window = steady();
  window.spacing = 0ns;
  window.window = 1s;
  window.change_at_begin = Watts(300.0);
  window.change_at_end = Watts(400.0);
  // 2 x sqrt((300^2 + 400^2) x 1^2 / 64)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 125.0, kRounding);
}

TEST(GaugeUncertainty, OfAnOpenEndByTheSecondHalfOfItsMean) {
  GaugeWindowFacts window = steady();
  window.window = 1s;
  window.change_at_end = Watts(200.0);
  const double closed_j = gauge_uncertainty(window).si();
  window.open_end = 100ms;
  // (200 x 1)^2 / 16 more
  EXPECT_NEAR(gauge_uncertainty(window).si(), std::hypot(closed_j, 2.0 * 200.0 / 4.0), kRounding);
}

TEST(GaugeUncertainty, OfAnOpenEndByWhatHappenedSinceTheNewestValue) {
  GaugeWindowFacts window = steady();
  window.change_since = Watts(300.0);
  EXPECT_EQ(gauge_uncertainty(window), Joules(0.0)) << "later values are known";
  window.open_end = 100ms;
  // 2 x sqrt(300^2 x 0.1^2 / 3)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 34.64101615137755, kRounding);
  window.open_end = 25ms;
  EXPECT_NEAR(gauge_uncertainty(window).si(), 34.64101615137755 / 8.0, kRounding)
      << "a quarter of the time, and half the change";
}

TEST(GaugeUncertainty, OfTheDelayOfAllValuesWhereTheEndsDiffer) {
  GaugeWindowFacts window = steady();
  window.change_overall = Watts(200.0);
  window.lateness_range = 100ms;
  // 2 x sqrt(200^2 x 0.1^2 / 12)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 11.547005383792515, kRounding);
  window.lateness = 100ms;
  // 2 x sqrt(200^2 x 0.1^2 x 13 / 12)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 41.633319989322655, kRounding);
}

TEST(GaugeUncertainty, OfWhatAMeanHidesAtTheEnds) {
  GaugeWindowFacts window = steady();
  window.mean = Watts(200.0);
  window.window = 100ms;
  // 2 x sqrt(2 x (0.11 x 200 x 0.1)^2)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 6.222539674441618, kRounding);
}

TEST(GaugeUncertainty, OfAMeanThatIsALittleLongerThanTheStatedUpdateIsNotThatOfMeansThatOverlap) {
  GaugeWindowFacts window = steady();
  window.mean = Watts(200.0);
  window.window = 101'150us;
  // 2 x sqrt(2 x (0.11 x 200 x 0.10115)^2)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 6.294098880697697, kRounding);
}

TEST(GaugeUncertainty, OfALatenessThatDriftsWhileThePowerChangesAllTheTime) {
  GaugeWindowFacts window = steady();
  window.lateness_range = 100ms;
  window.variance_w2 = 10'000.0;
  EXPECT_EQ(gauge_uncertainty(window), Joules(0.0)) << "it does not change";
  window.drifting_w2 = 1e9;
  // 2 x sqrt((0.006 + 0.008 / 1.2) x 10 x 0.1 x 10000)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 22.509257354845512, kRounding);
}

TEST(GaugeUncertainty, OfALatenessThatDriftsBetweenTwoStepsIsNoMoreThanTheseCost) {
  GaugeWindowFacts window = steady();
  window.lateness_range = 20ms;
  window.variance_w2 = 10'000.0;
  window.drifting_w2 = 2.0 * 200.0 * 200.0 / 6.0;
  // 2 x sqrt(2 x 200^2 x 0.02^2 / 6)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 4.618802153517006, kRounding);
}

TEST(GaugeUncertainty, OfALatenessThatIsAnotherOneAtEachReadingIsWhatAllChangesCost) {
  GaugeWindowFacts window = steady();
  window.lateness_range = 20ms;
  window.drifting_w2 = 10'000.0;
  EXPECT_EQ(gauge_uncertainty(window), Joules(0.0)) << "nothing overtakes anything";
  window.overtakes = false;
  // 2 x sqrt(10000 x 0.02^2)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 4.0, kRounding);
}

TEST(GaugeUncertainty, OfEndsThatAreKnownFromHowTheEnergyWasFound) {
  GaugeWindowFacts window = steady();
  window.ends_j2 = 9.0;
  EXPECT_NEAR(gauge_uncertainty(window).si(), 6.0, kRounding);
}

TEST(GaugeUncertainty, OfAValueThatStaysAfterAFall) {
  GaugeWindowFacts window = steady();
  window.fall = Watts(300.0);
  EXPECT_EQ(gauge_uncertainty(window), Joules(0.0)) << "it does not freeze";
  window.freezes = 1s;
  // 2 x sqrt(300^2 x 1^2 / 7.5)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 219.08902300206645, kRounding);
}

TEST(GaugeUncertainty, OfWhatMeansThatOverlapHideIsLess) {
  GaugeWindowFacts window = steady();
  window.mean = Watts(200.0);
  window.window = 1s;
  // 2 x sqrt(2 x (0.0225 x 200)^2)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 12.727922061357855, kRounding);
}

TEST(GaugeUncertainty, OfRoundingEachValue) {
  GaugeWindowFacts window = steady();
  window.step = Watts(1.0);
  // 2 x sqrt(10^2 / 12)
  EXPECT_NEAR(gauge_uncertainty(window).si(), 5.773502691896258, kRounding);
}

TEST(GaugeUncertainty, AddsItsTermsInQuadrature) {
  GaugeWindowFacts window = steady();
  window.coverage = 0.5;
  window.scatter_w2 = 100.0;
  window.change_at_begin = Watts(30.0);
  window.step = Watts(2.0);
  // 0.1^2 x 0.5 x 1.25 x 100, 30^2 x 0.1^2 x 2 / 36, 10^2 x 2^2 / 12
  EXPECT_NEAR(gauge_uncertainty(window).si(), 2.0 * std::sqrt(0.625 + 0.5 + 100.0 / 3.0),
              kRounding);
}

TEST(Uncertainty, OfAlignedEndsByTheirReadsTheirWaitingAndTicks) {
  const AlignedWindowFacts exact{.waiting = Watts(0.0),
                                 .waiting_uncertainty = Watts(0.0),
                                 .waited = 0ns,
                                 .first_latency = 0ns,
                                 .last_latency = 0ns,
                                 .tick = Joules(0.0)};
  EXPECT_EQ(aligned_counter_uncertainty(exact), Joules(0.0));
  AlignedWindowFacts window = exact;
  window.tick = Joules(0.6);
  // 2 x 0.6 / sqrt 6
  EXPECT_NEAR(aligned_counter_uncertainty(window).si(), 0.4898979485566356, kRounding);
  window = exact;
  window.waiting = Watts(100.0);
  window.first_latency = 3ms;
  window.last_latency = 4ms;
  // 2 x 100 x 0.005 / sqrt 12
  EXPECT_NEAR(aligned_counter_uncertainty(window).si(), 0.2886751345948129, kRounding);
  window = exact;
  window.waiting_uncertainty = Watts(5.0);
  window.waited = 20ms;
  EXPECT_NEAR(aligned_counter_uncertainty(window).si(), 0.2, kRounding);
  window.tick = Joules(0.6);
  EXPECT_NEAR(aligned_counter_uncertainty(window).si(), std::hypot(0.2, 0.4898979485566356),
              kRounding);
}

}  // namespace
}  // namespace wattle
