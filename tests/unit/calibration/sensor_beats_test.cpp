#include "calibration/sensor_beats.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

/// Up and down by 20 W every 3 s from 10 s on.
std::vector<SensorStep> beats_of_20_w(int count) {
  std::vector<SensorStep> steps;
  for (int i = 0; i < count; ++i) steps.push_back({10.0 + 3.0 * i, i % 2 == 0 ? 20.0 : -20.0});
  return steps;
}

double sum_of(const std::vector<SensorStep>& steps) {
  double sum = 0.0;
  for (const SensorStep& step : steps) sum += step.size_w;
  return sum;
}

TEST(SensorBeats, AreStepsOfOneSizeUpAndDownInTurn) {
  std::vector<SensorStep> steps = beats_of_20_w(5);
  steps.push_back({14.0, 11.0});
  steps.push_back({40.0, -6.0});
  const auto found = possible_beats(steps);
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found.front().half_s, 3.0, 1e-9);
  ASSERT_EQ(found.front().runs.size(), 1U);
  EXPECT_EQ(found.front().runs.front().steps.size(), 5U);
}

TEST(SensorBeats, EndWhereAStepComesTooLate) {
  std::vector<SensorStep> steps = beats_of_20_w(4);
  steps.push_back({27.0, 20.0});
  const auto found = possible_beats(steps);
  ASSERT_FALSE(found.empty());
  ASSERT_EQ(found.front().runs.size(), 2U);
  EXPECT_EQ(found.front().runs.back().steps.size(), 1U);
}

TEST(SensorBeats, AreNoneOfStepsThatAllDiffer) {
  EXPECT_TRUE(possible_beats({{1.0, 20.0}, {3.0, -30.0}, {5.0, 50.0}, {7.0, -80.0}}).empty());
  EXPECT_TRUE(possible_beats({{1.0, 20.0}, {3.0, 20.0}, {5.0, 20.0}}).empty());
  EXPECT_TRUE(possible_beats({}).empty());
}

TEST(SensorBeats, LieHalfAStepBesideWhatTheMeterSees) {
  const BeatRun run{.steps = beats_of_20_w(3), .before_s = 1.0, .after_s = 2.0};
  const auto error = run.error();
  ASSERT_EQ(error.size(), 5U);
  EXPECT_DOUBLE_EQ(error[0].time_s, 9.0);
  EXPECT_DOUBLE_EQ(error[0].size_w, -10.0);
  EXPECT_DOUBLE_EQ(error[1].size_w, 20.0);
  EXPECT_DOUBLE_EQ(error[4].time_s, 18.0);
  EXPECT_DOUBLE_EQ(sum_of(error), 0.0);
  EXPECT_EQ(run.missed(), 3U);
}

TEST(SensorBeats, ThatStartAndEndWithAStepShowHalfOfIt) {
  const BeatRun run{.steps = beats_of_20_w(3)};
  const auto error = run.error();
  ASSERT_EQ(error.size(), 3U);
  EXPECT_DOUBLE_EQ(error.front().size_w, 10.0);
  EXPECT_DOUBLE_EQ(error.back().size_w, 10.0);
  EXPECT_EQ(run.missed(), 1U);
}

}  // namespace
}  // namespace wattle
