// How often the 95 % interval of a comparison holds the truth: fixed seeds, 2,000 benchmarks each.
#include <gtest/gtest.h>

#include <cmath>

#include "lab/comparison_model.hpp"
#include "runs/log_ratio.hpp"

namespace wattle::lab {
namespace {

constexpr int kRepetitions = 2'000;

struct Coverage {
  double held = 0.0;   ///< percent of the intervals that hold the truth
  double shown = 0.0;  ///< percent of the comparisons that show a difference
};

Coverage coverage_of(const Disturbance& disturbance, std::size_t rounds, double ratio,
                     LogRatio (*compare)(const Series&, const Series&)) {
  Random random(20'251 + rounds);
  Coverage coverage;
  for (int i = 0; i < kRepetitions; ++i) {
    const SimulatedBench bench = simulate(disturbance, rounds, ratio, random);
    const LogRatio found = compare({bench.a, bench.errors_a}, {bench.b, bench.errors_b});
    coverage.held += found.interval->contains(std::log(ratio)) ? 1.0 : 0.0;
    coverage.shown += found.is_shown() ? 1.0 : 0.0;
  }
  return {100.0 * coverage.held / kRepetitions, 100.0 * coverage.shown / kRepetitions};
}

class ComparisonCoverage : public testing::TestWithParam<Disturbance> {};

TEST_P(ComparisonCoverage, IsWhatItStates) {
  for (const std::size_t rounds : {3U, 5U, 10U, 30U}) {
    const Coverage coverage = coverage_of(GetParam(), rounds, 0.9, paired_log_ratio);
    EXPECT_GE(coverage.held, 93.0) << rounds << " rounds";
  }
}

TEST_P(ComparisonCoverage, SeldomShowsADifferenceThatIsNone) {
  for (const std::size_t rounds : {3U, 5U, 10U, 30U}) {
    EXPECT_LE(coverage_of(GetParam(), rounds, 1.0, paired_log_ratio).shown, 7.0)
        << rounds << " rounds";
    if (GetParam().needs_rounds()) continue;
    EXPECT_LE(coverage_of(GetParam(), rounds, 1.0, unpaired_log_ratio).shown, 7.0)
        << rounds << " runs of each";
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ComparisonCoverage, testing::ValuesIn(disturbances()),
                         [](const auto& disturbance) {
                           std::string name(disturbance.param.name);
                           std::erase_if(name,
                                         [](char c) { return c == ' ' || c == ',' || c == '%'; });
                           return name;
                         });

TEST(ComparisonCoverage, OfUnlikeKindsIsThatOfTheMeansOnceRunsAreMany) {
  // One in ten runs of B takes half as much again: few runs may have none of them.
  EXPECT_GE(coverage_of(unlike_kinds(), 5, 1.0, unpaired_log_ratio).shown, 40.0);
  EXPECT_LE(coverage_of(unlike_kinds(), 100, 1.0, unpaired_log_ratio).shown, 10.0);
}

TEST(ComparisonCoverage, ShowsWhatIsThere) {
  // 10 % less, at 2 % from run to run.
  EXPECT_GE(coverage_of({.name = "noise"}, 10, 0.9, paired_log_ratio).shown, 99.9);
}

}  // namespace
}  // namespace wattle::lab
