// How uncertain the energy of a gauge is.
#include <gtest/gtest.h>

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

GaugeWindowFacts facts(Seconds length, Watts mean) {
  return {.length = length,
          .spacing = 100ms,
          .window = 0ms,
          .coverage = 0.0,
          .mean = mean,
          .held_only = 0ms,
          .scatter_w2 = 0.0,
          .change_at_begin = Watts(0.0),
          .change_at_end = Watts(0.0),
          .change_overall = Watts(0.0),
          .lateness = 100ms,
          .lateness_range = 100ms,
          .open_end = 0ms,
          .change_since = Watts(0.0),
          .step = Watts(1.0)};
}

/// Of a step, 101 samples: it is alone, if 101 samples can show that.
double step_scatter_w2() {
  constexpr double kAlone = 1.15 / 6.0;
  const double unsteady = kAlone + (1.0 - kAlone) * std::pow(3.5 / std::sqrt(101.0), 4.0);
  return 200.0 * 200.0 / 2.0 * unsteady;
}
constexpr double kDriftOfStepW2 = 200.0 * 200.0 / 6.0;

/// 50 samples of 100 W, 51 of 300 W.
constexpr double kVarianceOfStepW2 = 200.0 * 200.0 * 50.0 * 51.0 / (101.0 * 101.0);

TEST(GaugeEnergy, OfASteadyPowerIsUncertainByItsRoundingAndWhatIsNotSeen) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 10s, 100);
  EXPECT_EQ(energy(history, 1s, 9s).uncertainty, gauge_uncertainty(facts(8s, Watts(100.0))));
}

TEST(GaugeEnergy, UncertaintyKnowsTheStepFromTheValueHeldAtTheOpening) {
  GaugeWindowFacts expected = facts(8s, Watts(200.0));
  expected.scatter_w2 = step_scatter_w2();
  expected.change_overall = Watts(200.0);
  expected.drifting_w2 = kDriftOfStepW2;
  expected.variance_w2 = kVarianceOfStepW2;
  EXPECT_NEAR(energy(StepAt5s(), 1s, 9s).uncertainty.si(), gauge_uncertainty(expected).si(), 1e-9);
}

TEST(GaugeEnergy, UncertaintyKnowsHowMuchThePowerChangedAroundItsEnds) {
  GaugeWindowFacts at_begin = facts(4s, Watts(300.0));
  at_begin.scatter_w2 = step_scatter_w2();
  at_begin.change_at_begin = Watts(200.0);
  at_begin.change_overall = Watts(200.0);
  at_begin.drifting_w2 = kDriftOfStepW2;
  at_begin.variance_w2 = kVarianceOfStepW2;
  EXPECT_NEAR(energy(StepAt5s(), 5s, 9s).uncertainty.si(), gauge_uncertainty(at_begin).si(), 1e-9);
  GaugeWindowFacts at_end = at_begin;
  at_end.mean = Watts(100.0);
  at_end.change_at_begin = Watts(0.0);
  at_end.change_at_end = Watts(200.0);
  EXPECT_NEAR(energy(StepAt5s(), 1s, 5s).uncertainty.si(), gauge_uncertainty(at_end).si(), 1e-9);
}

TEST(GaugeEnergy, UncertaintyIgnoresAValueFromBeforeAGap) {
  KnownHistory history(whole_watts());
  history.read(0s, 100);
  history.read_through(5s, 10s, 300);
  EXPECT_EQ(energy(history, 5050ms, 8050ms).uncertainty,
            gauge_uncertainty(facts(3s, Watts(300.0))));
}

TEST(GaugeEnergy, UncertaintyKnowsThatAValueOnlyHeldBeforeAGap) {
  KnownHistory history(whole_watts());
  history.read_through(0s, 3s, 100);
  history.read_through(6s, 10s, 100);
  const Joules whole = gauge_uncertainty(facts(8s, Watts(100.0)));
  EXPECT_GT(energy(history, 1s, 9s).uncertainty, whole * 2.0);
}

/// 100 to 300 W, another value at every sample; no samples from 90 to 100 s.
class NoiseWithALoss : public KnownHistory {
 public:
  NoiseWithALoss() : KnownHistory(whole_watts()) {
    std::uint64_t noise = 1;
    for (int look = 0; look <= 2100; ++look) {
      noise = noise * 6364136223846793005U + 1442695040888963407U;
      if (look > 900 && look < 1000) continue;
      read(look * 100ms, 100 + (noise >> 33U) % 201);
    }
  }
};

TEST(GaugeEnergy, UncertaintyOfALongWindowIsNotLessThanThatOfAShortOne) {
  KnownHistory history(whole_watts());
  std::uint64_t noise = 1;
  for (int look = 0; look <= 2100; ++look) {
    noise = noise * 6364136223846793005U + 1442695040888963407U;
    history.read(look * 100ms, 200 + (noise >> 60U));
  }
  // Of the shorter window all readings are looked at, of the longer ones not.
  const double short_j = energy(history, 1s, 100s).uncertainty.si();
  const double long_j = energy(history, 1s, 109s).uncertainty.si();
  const double twice_j = energy(history, 1s, 199s).uncertainty.si();
  EXPECT_GT(long_j, short_j);
  EXPECT_LT(long_j, 2.0 * short_j);
  EXPECT_NEAR(twice_j / short_j, std::sqrt(2.0), 0.5) << "it grows with the root of the time";
}

TEST(GaugeEnergy, UncertaintyOfALongWindowThatBeginsWhereNothingIsKnownIsThatOfTheRest) {
  const NoiseWithALoss history;
  const double all_j = energy(history, 0s, 209s).uncertainty.si();
  EXPECT_NEAR(energy(history, -1s, 209s).uncertainty.si() / all_j, 1.0, 0.05);
  const double behind_j = energy(history, 100s, 209s).uncertainty.si();
  EXPECT_NEAR(energy(history, 95s, 209s).uncertainty.si() / behind_j, 1.0, 0.05);
}

TEST(GaugeEnergy, UncertaintyOfALongWindowOfWhichOnlyTheEndIsKnown) {
  KnownHistory history(whole_watts());
  for (int look = 0; look <= 4; ++look) history.read(look * 100ms, look % 2 == 0 ? 100 : 110);
  const double alone_j = energy(history, 0s, 400ms).uncertainty.si();
  EXPECT_LE(energy(history, -1000s, 400ms).uncertainty.si(), alone_j + 1.0);
}

}  // namespace
}  // namespace wattle
