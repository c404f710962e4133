#include "runs/run_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace wattle {
namespace {

constexpr double kMostFalse = 0.01;
constexpr UpdateBand kTenHertz = {.lowest_hz = 9.9, .highest_hz = 10.1};
constexpr double kUnixS = 1.79e9;  // as records have it: to 0.2 us

/// Runs every `loop_s` of ±5 J each, of which 3 J are one sensor's, and 1 J come back.
std::vector<SummedRun> runs_every(double loop_s, std::size_t count) {
  std::vector<SummedRun> runs;
  for (std::size_t i = 0; i < count; ++i) {
    const double start_s = kUnixS + static_cast<double>(i) * loop_s;
    runs.push_back({.started_unix_s = start_s,
                    .ended_unix_s = start_s + 0.4,
                    .uncertainty = Joules(5.0),
                    .common = Joules(1.0),
                    .sensors = {{.updates = kTenHertz, .independent = Joules(3.0)}}});
  }
  return runs;
}

std::vector<SummedRun> runs_at_random(std::mt19937_64& random, std::size_t count) {
  std::exponential_distribution<double> pause(1.0);
  std::vector<SummedRun> runs = runs_every(0.0, count);
  double at_s = kUnixS;
  for (SummedRun& run : runs) {
    at_s += 0.4 + pause(random);
    run.started_unix_s = at_s;
    run.ended_unix_s = at_s + 0.4 + 0.1 * pause(random);
  }
  return runs;
}

TEST(SumOfRuns, InStepWithASensorAddsUpItsErrors) {
  const RunSum sum = sum_of_runs(runs_every(0.5, 20), kMostFalse);
  EXPECT_TRUE(sum.is_in_step);
  EXPECT_NEAR(sum.common.si(), 20.0, 1e-9);
  // 15 J^2 of each run are those of other sensors.
  EXPECT_NEAR(sum.uncertainty.si(), std::sqrt(20.0 * 15.0 + 20.0 * 20.0 + 60.0 * 60.0), 1e-9);
}

TEST(SumOfRuns, OutOfStepAveragesThemOut) {
  // Between 9.9 and 10.1 Hz there is no rate at which all of them start at one phase.
  const RunSum sum = sum_of_runs(runs_every(0.45, 20), kMostFalse);
  EXPECT_FALSE(sum.is_in_step);
  EXPECT_NEAR(sum.uncertainty.si(), std::sqrt(20.0 * 24.0 + 20.0 * 20.0), 1e-9);
}

TEST(SumOfRuns, FindsThePaceOfABoardThatIsNotQuiteThatOfItsKind) {
  EXPECT_TRUE(sum_of_runs(runs_every(5.0 / 10.06, 30), kMostFalse).is_in_step);
}

TEST(SumOfRuns, InStepAtTheirEndsAloneIsFoundToo) {
  std::mt19937_64 random(3);
  std::vector<SummedRun> runs = runs_at_random(random, 20);
  EXPECT_FALSE(sum_of_runs(runs, kMostFalse).is_in_step);
  for (SummedRun& run : runs) {
    run.ended_unix_s = kUnixS + std::ceil((run.ended_unix_s - kUnixS) * 10.0) / 10.0;
  }
  EXPECT_TRUE(sum_of_runs(runs, kMostFalse).is_in_step);
}

TEST(SumOfRuns, AtRandomTimesIsTakenForInStepInOneOfAHundred) {
  std::mt19937_64 random(1);
  int flagged = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::size_t count = 5 + static_cast<std::size_t>(trial) % 60;
    if (sum_of_runs(runs_at_random(random, count), kMostFalse).is_in_step) ++flagged;
  }
  EXPECT_LE(flagged, kTrials / 50);
}

TEST(SumOfRuns, OnlyRunsInStepAddUp) {
  // The first 64 follow a timer, the others do not.
  std::mt19937_64 random(5);
  std::vector<SummedRun> runs = runs_at_random(random, 64);
  for (SummedRun& run : runs) {
    run.started_unix_s += 1000.0;
    run.ended_unix_s += 1000.0;
  }
  const std::vector<SummedRun> timed = runs_every(0.5, 64);
  runs.insert(runs.begin(), timed.begin(), timed.end());
  const RunSum sum = sum_of_runs(runs, kMostFalse);
  EXPECT_TRUE(sum.is_in_step);
  const double squares = 64.0 * 15.0 + 64.0 * 24.0 + 128.0 * 128.0 + std::pow(64.0 * 3.0, 2.0);
  EXPECT_NEAR(sum.uncertainty.si(), std::sqrt(squares), 1e-9);
}

TEST(SumOfRuns, OfFewRunsOrOfUnknownSensorsIsNeverInStep) {
  EXPECT_FALSE(sum_of_runs(runs_every(0.5, 4), kMostFalse).is_in_step);
  std::vector<SummedRun> runs = runs_every(0.5, 20);
  for (SummedRun& run : runs) run.sensors.clear();
  EXPECT_FALSE(sum_of_runs(runs, kMostFalse).is_in_step);
  EXPECT_FALSE(sum_of_runs({}, kMostFalse).is_in_step);
}

/// Runs of 100 J, each ±5 J, around whose ends counters may not have shown `unseen`.
std::vector<SummedRun> runs_with_unseen(Joules unseen, std::size_t count) {
  std::vector<SummedRun> runs = runs_every(0.45, count);
  for (SummedRun& run : runs) {
    run.energy = Joules(100.0);
    run.unseen = unseen;
  }
  return runs;
}

bool is_material(const RunSum& sum) { return is_material(sum.unseen, sum.uncertainty, sum.energy); }

TEST(SumOfRuns, HasMoreUnseenThanItsUncertaintyHoldsWhereRunsAreMany) {
  EXPECT_FALSE(is_material(sum_of_runs(runs_with_unseen(Joules(4.0), 1), kMostFalse)));
  EXPECT_TRUE(is_material(sum_of_runs(runs_with_unseen(Joules(4.0), 20), kMostFalse)));
}

TEST(SumOfRuns, HasNothingUnseenThatShows) {
  std::vector<SummedRun> runs = runs_with_unseen(Joules(0.05), 20);
  for (SummedRun& run : runs) run.uncertainty = run.common = Joules();
  EXPECT_FALSE(is_material(sum_of_runs(runs, kMostFalse))) << "half a thousandth";
}

TEST(SummedRun, HasNothingUnseenOfACounterThatWasReadOnAndOfAGauge) {
  Report record;
  EnergyFigure figure{.energy = Joules(100.0), .mean = Watts(100.0), .update = Seconds(0.1)};
  record.energy.domains.push_back({.domain = Domain::nvidia_gpu(0), .figure = figure});
  EXPECT_NEAR(summed_run(record).unseen.si(), 4.0 * 0.05 * 100.0, 1e-9);
  record.energy.domains[0].figure.ends_are_seen = true;
  EXPECT_EQ(summed_run(record).unseen, Joules());
  record.energy.domains[0].figure.ends_are_seen = false;
  record.energy.domains[0].figure.method = Method::integrated;
  EXPECT_EQ(summed_run(record).unseen, Joules());
}

TEST(SummedRun, IgnoresUpdatesThatNoSensorHas) {
  for (const double update_s : {0.0, -1.0, 1e-300, 1e300, std::nan("")}) {
    Report record;
    EnergyFigure figure{.energy = Joules(1.0)};
    figure.update = Seconds(update_s);
    record.energy.domains = {{.domain = Domain::package(0), .figure = figure}};
    EXPECT_TRUE(summed_run(record).sensors.empty()) << update_s;
  }
}

TEST(SumOfRuns, TakesTimesThatNoRunHas) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double time_s : {kInfinity, -kInfinity, std::nan(""), 1e300, -1e300}) {
    std::vector<SummedRun> runs = runs_every(0.5, 20);
    runs[0].started_unix_s = time_s;
    runs[19].ended_unix_s = time_s;
    const RunSum sum = sum_of_runs(runs, kMostFalse);
    EXPECT_TRUE(sum.is_in_step) << "the others are: " << time_s;
    EXPECT_TRUE(std::isfinite(sum.uncertainty.si())) << time_s;
  }
}

}  // namespace
}  // namespace wattle
