#include "lab/cell.hpp"

#include <gtest/gtest.h>

#include <set>

#include "lab/cells.hpp"

namespace wattle::lab {
namespace {

constexpr TrialOptions kFew = {.trials = 200, .seed = 1};

Cell cell_of(std::string_view mode, const Machine& machine, const Waveform& load, double window_s) {
  return {.mode = mode,
          .machine = machine,
          .load = {.name = "load", .shape = load},
          .window_s = window_s};
}

Machine package_machine() {
  return {.name = "package",
          .counter = CounterModel{
              .name = "package", .domain = Domain::package(0), .update = {.mean_s = 1e-3}}};
}

TEST(Cell, FindsTheErrorThatTheoryGives) {
  // Under constant power the error is the difference of two uniform ages: triangular, with a
  // variance of twice 1/12 of the update interval squared.
  const Cell cell = cell_of("plain", package_machine(), Waveform::constant(100.0), 1.0);
  const CellResult result = run_cell(cell, {.trials = 4000, .seed = 1});
  ASSERT_TRUE(result.wattle.has_value());
  EXPECT_EQ(result.wattle->found, 1.0);
  EXPECT_NEAR(result.true_mean_j, 100.0, 0.5);
  EXPECT_NEAR(result.wattle->errors.bias, 0.0, 4e-5);
  EXPECT_NEAR(result.wattle->errors.rms, 0.408e-3, 0.02e-3);
  EXPECT_NEAR(result.wattle->errors.p95, 0.776e-3, 0.04e-3);
  EXPECT_LE(result.wattle->errors.most, 1.0e-3 / 0.9 + 1e-5);
}

TEST(Cell, ReportsHowOftenTheTruthLayWithinTheClaim) {
  const Cell cell = cell_of("plain", package_machine(), Waveform::constant(100.0), 1.0);
  const CellResult result = run_cell(cell, kFew);
  ASSERT_TRUE(result.wattle && result.wattle->claims);
  EXPECT_GE(result.wattle->claims->coverage, 0.9);
  EXPECT_LE(result.wattle->claims->coverage, 1.0);
  EXPECT_NEAR(width_ratio(*result.wattle).value(),
              result.wattle->claims->median_half_width / result.wattle->errors.p95, 1e-12);
}

TEST(Cell, GivesTheSameResultAtEveryRun) {
  const Cell cell = cell_of("plain", package_machine(), Waveform::square(100.0, 200.0, 0.03), 0.1);
  const CellResult one = run_cell(cell, kFew);
  const CellResult two = run_cell(cell, kFew);
  EXPECT_EQ(one.wattle->quantiles, two.wattle->quantiles);
  EXPECT_EQ(one.wattle->errors.rms, two.wattle->errors.rms);
}

TEST(Cell, GivesOtherTrialsUnderAnotherSeed) {
  const Cell cell = cell_of("plain", package_machine(), Waveform::constant(100.0), 0.1);
  EXPECT_NE(run_cell(cell, kFew).wattle->errors.rms,
            run_cell(cell, {.trials = 200, .seed = 2}).wattle->errors.rms);
}

TEST(Cell, TriesTheCommonWaysThatItsSensorsAllow) {
  const CellResult counter =
      run_cell(cell_of("plain", package_machine(), Waveform::constant(100.0), 0.1), kFew);
  ASSERT_EQ(counter.common.size(), 1U);
  EXPECT_EQ(counter.common[0].way, "two reads");
  const Machine gauge = {.name = "gauge",
                         .gauge = GaugeModel{.name = "gauge", .update = {.mean_s = 0.1}}};
  const CellResult gauges =
      run_cell(cell_of("none such", gauge, Waveform::constant(100.0), 1.0), kFew);
  EXPECT_FALSE(gauges.wattle.has_value());
  ASSERT_EQ(gauges.common.size(), 2U);
  EXPECT_EQ(gauges.common[0].way, "trapezoid");
  EXPECT_EQ(gauges.common[1].way, "1 s polls");
}

/// A gauge that looks for so much of each 100 ms.
Machine part_time(double window_s = 0.025) {
  return {.name = "part time",
          .gauge = GaugeModel{.name = "gauge", .update = {.mean_s = 0.1}, .window_s = window_s}};
}

Waveform square_of(double period_s) { return Waveform::square(100.0, 200.0, period_s); }

TEST(Cell, IsHiddenWhereALoadRepeatsAtThePaceOfTheGauge) {
  EXPECT_TRUE(cell_of("gauge", part_time(), square_of(0.1), 1.0).is_hidden());
  EXPECT_TRUE(cell_of("gauge", part_time(), square_of(0.105), 1.0).is_hidden()) << "nearly";
  EXPECT_TRUE(cell_of("gauge", part_time(), square_of(0.02), 1.0).is_hidden()) << "five times";
  EXPECT_FALSE(cell_of("gauge", part_time(), square_of(0.13), 1.0).is_hidden());
  EXPECT_FALSE(cell_of("gauge", part_time(), square_of(0.2), 1.0).is_hidden()) << "seen in turns";
  EXPECT_FALSE(cell_of("gauge", part_time(), square_of(0.3), 1.0).is_hidden()) << "in thirds";
  EXPECT_FALSE(cell_of("gauge", part_time(), Waveform::constant(100.0), 1.0).is_hidden());
}

TEST(Cell, IsNotHiddenFromAGaugeThatSeesAllTheTimeOrFromACounter) {
  EXPECT_FALSE(cell_of("gauge", part_time(0.1), square_of(0.1), 1.0).is_hidden());
  Machine with_counter = part_time();
  with_counter.counter =
      CounterModel{.name = "counter", .domain = Domain::nvidia_gpu(0), .update = {.mean_s = 0.1}};
  EXPECT_FALSE(cell_of("both", with_counter, square_of(0.1), 1.0).is_hidden());
  with_counter.counter_is_fed = true;
  EXPECT_TRUE(cell_of("both", with_counter, square_of(0.1), 1.0).is_hidden());
}

TEST(Cell, ReportsHowFarOffTheOtherWayIsWhereNothingIsFlagged) {
  Machine machine = part_time();
  machine.counter = CounterModel{.name = "counter",
                                 .domain = Domain::nvidia_gpu(0),
                                 .update = {.mean_s = 0.1},
                                 .tick_j = 1e-3,
                                 .unit_j = 1e-3};
  Cell cell = cell_of("both", machine, square_of(0.1), 10.0);
  cell.load.most_delay_s = 0.1;
  const CellResult result = run_cell(cell, kFew);
  ASSERT_TRUE(result.wattle && result.wattle->claims);
  EXPECT_GT(result.wattle->claims->disagrees, 0.8);
  EXPECT_GT(result.wattle->claims->most_beside, 0.01);
  EXPECT_LT(result.wattle->claims->most_beside, 0.08) << "of the third that it is off at most";
  EXPECT_GT(result.wattle->claims->far_off_beside, 0.7);
  EXPECT_GE(result.wattle->claims->noticed_beside, 0.99) << "of those that are far off";
}

TEST(Cells, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Cell& cell : all_cells(Waveform::constant(1.0))) {
    EXPECT_TRUE(names.insert(cell.name()).second) << cell.name();
  }
}

}  // namespace
}  // namespace wattle::lab
