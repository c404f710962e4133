// Sums of runs and of boards: the truth is where the ± says it is.
#include "lab/sum_world.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

namespace wattle::lab {
namespace {

constexpr std::size_t kTrials = 100;

SumCell cell_of(std::string_view sensor, std::string_view kind) {
  for (SumCell& cell : sum_cells(1)) {
    if (cell.sensor == sensor && cell.kind == kind) return std::move(cell);
  }
  ADD_FAILURE() << sensor << ", " << kind;
  return {};
}

TEST(SumCoverage, IsEnoughForRunsAndBoards) {
  // 95 % of 100 trials, less what chance can do to that.
  constexpr double kLeast = 0.91;
  for (const SumCell& cell : sum_cells(10)) {
    if (!cell.limit().empty()) continue;
    const SumResult result = simulate_sums(cell, kTrials, 1);
    EXPECT_GE(result.coverage, kLeast) << cell.name();
  }
}

TEST(SumOfRunsInStep, IsHeldByItsUncertaintyAndFlagged) {
  constexpr std::size_t kFewTrials = 40;
  for (SumCell& cell : sum_cells(10)) {
    if (!cell.is_in_step) continue;
    cell.runs = 40;
    const SumResult result = simulate_sums(cell, kFewTrials, 1);
    EXPECT_GE(result.coverage, 0.95) << cell.name();
    EXPECT_EQ(result.in_step, 1.0) << cell.name();
  }
}

TEST(SumOfRunsAtRandom, IsNotTakenForOneInStep) {
  for (const std::string_view sensor : {"RAPL, 10 ms", "GPU counter, 0.5 s", "25 of 100 ms, 1 s"}) {
    SumCell cell = cell_of(sensor, "steps");
    cell.runs = 20;
    EXPECT_LE(simulate_sums(cell, 400, 1).in_step, 0.02) << sensor;
  }
}

TEST(SumOfEqualRuns, IsFiveTimesNearerTheTruthWhereThePowerBeforeWasSeen) {
  for (const std::string_view sensor : {"RAPL, 10 ms", "GPU counter, 0.5 s"}) {
    SumCell cell = cell_of(sensor, "steps");
    cell.runs = 100;
    const SumResult result = simulate_sums(cell, kTrials, 1);
    EXPECT_LE(5.0 * std::abs(result.mean_error), std::abs(result.mean_error_of_raw)) << sensor;
  }
}

TEST(SumOfEqualRuns, IsFiveTimesNearerTheTruthWhereCountersAreReadOn) {
  for (const std::string_view sensor : {"RAPL, 10 ms", "GPU counter, 0.5 s"}) {
    for (const std::string_view kind : {"steps", "falls", "random", "transients"}) {
      SumCell cell = cell_of(sensor, kind);
      cell.runs = 100;
      cell.is_observed = false;
      cell.is_read_on = true;
      const SumResult result = simulate_sums(cell, 40, 1);
      EXPECT_LE(5.0 * std::abs(result.mean_error), std::abs(result.mean_error_of_raw))
          << cell.name();
      EXPECT_GE(result.coverage, 0.95) << cell.name();
      EXPECT_EQ(result.unseen, 0.0) << cell.name();
    }
  }
}

TEST(SumOfEqualRuns, IsFiveTimesNearerTheTruthWithGauges) {
  for (const std::string_view sensor : {"25 of 100 ms, 1 s", "95 of 100 ms, 1 s"}) {
    for (const std::string_view kind : {"steps", "falls", "transients"}) {
      SumCell cell = cell_of(sensor, kind);
      cell.runs = 100;
      const SumResult result = simulate_sums(cell, 40, 1);
      EXPECT_LE(5.0 * std::abs(result.mean_error), std::abs(result.mean_error_of_raw))
          << cell.name();
    }
  }
}

TEST(SumOfUnseenRuns, IsFlaggedWhereItsUncertaintyIsNotPromised) {
  for (SumCell& cell : sum_cells(1)) {
    const bool is_long = cell.sensor == "RAPL, 1 s" || cell.boards > 1;
    if (cell.limit().empty() || is_long || cell.machine.counter->pause_s > 0.0) continue;
    cell.runs = 30;
    EXPECT_EQ(simulate_sums(cell, 10, 1).unseen, 1.0) << cell.name();
  }
}

TEST(SumOfEqualRuns, IsHeldByItsUncertaintyWhereThePowerBeforeIsNotKnown) {
  SumCell cell = cell_of("RAPL, 10 ms", "steps");
  cell.runs = 100;
  cell.is_read_before = false;
  cell.is_observed = false;
  const SumResult result = simulate_sums(cell, kTrials, 1);
  EXPECT_GE(result.coverage, 0.95);
  EXPECT_LE(result.width(), 3.0);
}

TEST(SumOfMixedRuns, IsNotWidenedByWhatCancels) {
  SumCell cell = cell_of("RAPL, 10 ms", "mixed");
  cell.runs = 100;
  cell.is_observed = false;
  const SumResult result = simulate_sums(cell, kTrials, 1);
  EXPECT_GE(result.coverage, 0.95);
  EXPECT_LE(result.width(), 3.5) << "what one run lacks the next one has";
}

/// 100 runs of steps on a sensor that is known by what is published alone.
SumCell compared_cell(std::string_view sensor, double window_s) {
  SumCell cell = cell_of(sensor, "steps");
  cell.runs = 100;
  cell.is_observed = false;
  cell.window_s = window_s;
  return cell;
}

TEST(ComparedRunsOfUnlikeLength, AreHeldByTheirInterval) {
  // The sensor takes a larger part of the shorter command.
  constexpr std::size_t kFewTrials = 40;
  const ComparedCells found =
      simulate_comparisons(compared_cell("GPU counter, 0.5 s", 0.5),
                           compared_cell("GPU counter, 0.5 s", 1.0), kFewTrials, 1);
  EXPECT_GE(found.coverage, 0.95);
  EXPECT_GT(found.median_common, 0.03);
}

TEST(ComparedRunsOfEqualLength, AreNotWidenedByWhatTheSensorTakesOfBoth) {
  constexpr std::size_t kFewTrials = 40;
  const SumCell cell = compared_cell("GPU counter, 0.5 s", 0.5);
  const ComparedCells found = simulate_comparisons(cell, cell, kFewTrials, 1);
  EXPECT_GE(found.coverage, 0.95);
  EXPECT_LT(found.median_common, 0.002);
  EXPECT_LT(found.median_half_width, 0.06) << "that of chance alone";
}

}  // namespace
}  // namespace wattle::lab
