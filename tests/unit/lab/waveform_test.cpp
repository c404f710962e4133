#include "lab/waveform.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace wattle::lab {
namespace {

/// A plain sum over the middles of many short stretches.
double summed_energy_j(const Waveform& waveform, double begin_s, double end_s) {
  constexpr int kStretches = 20'000;
  const double stretch_s = (end_s - begin_s) / kStretches;
  double sum_j = 0.0;
  for (int i = 0; i < kStretches; ++i) {
    sum_j += waveform.power_w(begin_s + (i + 0.5) * stretch_s) * stretch_s;
  }
  return sum_j;
}

struct Shape {
  std::string name;
  Waveform waveform;
};

class EveryWaveform : public testing::TestWithParam<Shape> {};

TEST_P(EveryWaveform, HasTheEnergyThatItsPowerAddsUpTo) {
  const Waveform& waveform = GetParam().waveform;
  // At each jump of the power the sum can be off by one stretch.
  constexpr double kRelative = 2e-3;
  for (const auto& [begin_s, end_s] :
       {std::pair{0.0, 1.0}, {-2.3, -1.1}, {-0.7, 3.9}, {7.0, 7.1}}) {
    const double sum_j = summed_energy_j(waveform, begin_s, end_s);
    EXPECT_NEAR(waveform.energy_j(begin_s, end_s), sum_j, kRelative * sum_j)
        << begin_s << " to " << end_s;
  }
}

TEST_P(EveryWaveform, SpendsInTwoPartsWhatItSpendsInAll) {
  const Waveform& waveform = GetParam().waveform;
  const double parts_j = waveform.energy_j(-1.3, 0.4) + waveform.energy_j(0.4, 5.2);
  EXPECT_NEAR(waveform.energy_j(-1.3, 5.2), parts_j, 1e-9 * parts_j);
}

TEST_P(EveryWaveform, IsTheSameLaterWhenDelayed) {
  const Waveform& waveform = GetParam().waveform;
  const Waveform delayed = waveform.delayed(0.3);
  EXPECT_DOUBLE_EQ(delayed.power_w(1.0), waveform.power_w(0.7));
  EXPECT_NEAR(delayed.energy_j(0.3, 2.3), waveform.energy_j(0.0, 2.0), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryWaveform,
    testing::Values(Shape{"constant", Waveform::constant(100.0)},
                    Shape{"step", Waveform::step(60.0, 200.0)},
                    Shape{"square", Waveform::square(140.0, 260.0, 0.025)},
                    Shape{"sine", Waveform::sine(150.0, 80.0, 0.3)},
                    Shape{"bursts", Waveform::bursts(60.0, 260.0, 0.08, 0.02, 1)},
                    Shape{"noise", Waveform::noise(60.0, 260.0, 0.03, 2)},
                    Shape{"enclosed",
                          Waveform::sine(150.0, 80.0, 0.3)
                              .only_between(0.2, 2.0, Waveform::square(5.0, 15.0, 0.3))}),
    [](const auto& shape) { return shape.param.name; });

TEST(Waveform, StepsAtZero) {
  const Waveform step = Waveform::step(60.0, 200.0);
  EXPECT_EQ(step.power_w(-1e-9), 60.0);
  EXPECT_EQ(step.power_w(0.0), 200.0);
  EXPECT_DOUBLE_EQ(step.energy_j(-1.0, 0.0), 60.0);
  EXPECT_DOUBLE_EQ(step.energy_j(0.0, 1.0), 200.0);
}

TEST(Waveform, OfTheStepThatEverybodyCanDoInTheirHead) {
  const Waveform step = Waveform::step(100.0, 300.0).delayed(5.0);
  EXPECT_DOUBLE_EQ(step.energy_j(0.0, 10.0), 2000.0);
  EXPECT_DOUBLE_EQ(step.energy_j(1.0, 9.0), 1600.0);
}

TEST(Waveform, IsHighInTheFirstHalfOfASquaresPeriod) {
  const Waveform square = Waveform::square(140.0, 260.0, 0.025);
  EXPECT_EQ(square.power_w(0.001), 260.0);
  EXPECT_EQ(square.power_w(0.020), 140.0);
  EXPECT_EQ(square.power_w(-0.001), 140.0);
}

TEST(Waveform, HasItsMeanPowerOverWholePeriods) {
  EXPECT_NEAR(Waveform::square(140.0, 260.0, 0.025).mean_w(3.017, 1.0), 200.0, 1e-9);
  EXPECT_NEAR(Waveform::sine(150.0, 80.0, 0.25).mean_w(3.017, 1.0), 150.0, 1e-9);
}

TEST(Waveform, HasAMeanOverNoTimeAtAll) {
  EXPECT_EQ(Waveform::step(60.0, 200.0).mean_w(0.0, 0.0), 200.0);
}

TEST(Waveform, IsBusyForItsPartOfTheTime) {
  const Waveform bursts = Waveform::bursts(0.0, 100.0, 0.08, 0.02, 3);
  EXPECT_NEAR(bursts.mean_w(bursts.period_s(), bursts.period_s()), 20.0, 1.5);
}

TEST(Waveform, StartsAgainAfterItsPeriod) {
  const Waveform noise = Waveform::noise(60.0, 260.0, 0.03, 4);
  EXPECT_NEAR(noise.energy_j(1.0, 2.0),
              noise.energy_j(1.0 + noise.period_s(), 2.0 + noise.period_s()), 1e-6);
}

TEST(Waveform, IsAnotherUnderAnotherSeed) {
  EXPECT_NE(Waveform::noise(60.0, 260.0, 0.03, 5).power_w(0.5),
            Waveform::noise(60.0, 260.0, 0.03, 6).power_w(0.5));
}

TEST(Waveform, IsAnotherOneBeyondItsEnclosure) {
  const Waveform work = Waveform::constant(200.0).only_between(1.0, 2.0, Waveform::constant(60.0));
  EXPECT_EQ(work.power_w(0.999), 60.0);
  EXPECT_EQ(work.power_w(1.0), 200.0);
  EXPECT_EQ(work.power_w(2.0), 60.0);
  EXPECT_DOUBLE_EQ(work.energy_j(0.0, 1.0), 60.0);
  EXPECT_DOUBLE_EQ(work.energy_j(3.0, 4.0), 60.0);
  EXPECT_DOUBLE_EQ(work.energy_j(0.5, 2.5), 30.0 + 200.0 + 30.0);
}

TEST(Waveform, IsFollowedWithALagOfItsTimeConstant) {
  const Waveform step = Waveform::step(100.0, 300.0);
  EXPECT_NEAR(step.lagged_w(-1.0, 100.0, 0.0, 0.05), 100.0, 1e-6);
  EXPECT_NEAR(step.lagged_w(-1.0, 100.0, 0.05, 0.05), 300.0 - 200.0 / std::exp(1.0), 1e-6);
  EXPECT_NEAR(step.lagged_w(-1.0, 100.0, 1.0, 0.05), 300.0, 1e-6);
}

TEST(Waveform, IsFollowedTheSameInOneStepAndInMany) {
  for (const Waveform& load :
       {Waveform::sine(150.0, 80.0, 0.3), Waveform::noise(60.0, 260.0, 0.03, 2),
        Waveform::sine(150.0, 80.0, 0.3)
            .only_between(0.2, 0.6, Waveform::square(5.0, 15.0, 0.3))}) {
    double shown_w = 50.0;
    for (int i = 0; i < 100; ++i) shown_w = load.lagged_w(i * 0.01, shown_w, (i + 1) * 0.01, 0.055);
    EXPECT_NEAR(shown_w, load.lagged_w(0.0, 50.0, 1.0, 0.055), 1e-6);
  }
}

TEST(Waveform, KnowsHowMuchOfItRepeatsAtAPace) {
  constexpr double kNear = 0.1;
  const auto at_100_ms = [](const Waveform& load) {
    return load.variance_at_multiples(0.1, kNear);
  };
  EXPECT_GT(at_100_ms(Waveform::square(60.0, 450.0, 0.1)), 0.9);
  EXPECT_GT(at_100_ms(Waveform::square(60.0, 450.0, 0.02)), 0.9) << "five times as fast";
  EXPECT_EQ(at_100_ms(Waveform::sine(255.0, 195.0, 0.105)), 1.0) << "nearly";
  EXPECT_LT(at_100_ms(Waveform::square(60.0, 450.0, 0.2)), 0.01);
  EXPECT_LT(at_100_ms(Waveform::square(60.0, 450.0, 0.13)), 0.2);
  EXPECT_LT(at_100_ms(Waveform::noise(60.0, 450.0, 0.03, 1)), 0.4);
  EXPECT_EQ(at_100_ms(Waveform::constant(100.0)), 0.0);
}

TEST(Waveform, KnowsThePaceOfARecordingThatLastsLonger) {
  // Ten seconds of a square of 100 ms, recorded each 5 ms.
  std::vector<Level> recording;
  for (int i = 0; i < 2000; ++i) recording.push_back({i * 5e-3, i % 20 < 10 ? 400.0 : 63.0});
  EXPECT_GT(Waveform::repeated(recording, 10.0).variance_at_multiples(0.1, 0.1), 0.9);
  EXPECT_LT(Waveform::repeated(recording, 10.0).variance_at_multiples(0.13, 0.1), 0.2);
}

}  // namespace
}  // namespace wattle::lab
