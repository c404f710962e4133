// Counters beside a gauge that sees a part of the time: those that add up what it shows are
// flagged, and those that do not are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/cells.hpp"

namespace wattle::lab {
namespace {

Claims claims_of(const std::string& name) {
  const std::vector<Cell> cells = all_cells(std::nullopt);
  const auto found = std::ranges::find(cells, name, &Cell::name);
  if (found == cells.end()) throw std::invalid_argument(name);
  const CellResult result = run_cell(*found, {.trials = 100, .seed = 1, .common_ways = false});
  return result.wattle->claims.value_or(Claims{});
}

class FedCounterCell : public testing::TestWithParam<const char*> {};

TEST_P(FedCounterCell, IsFlagged) {
  const Claims claims = claims_of(std::string("both, gpu 25/100 ms + fed counter, ") + GetParam());
  EXPECT_GE(claims.partial_coverage + claims.coverage_unknown, 0.99);
}

INSTANTIATE_TEST_SUITE_P(Loads, FedCounterCell,
                         testing::Values("square at the gauge's period, 10 s", "constant, 10 s",
                                         "aperiodic, 10 s", "square of 104 ms, 10 s"));

TEST(FedCounterCells, HaveTheUncertaintyOfWhatTheGaugeDoesNotSee) {
  const Claims claims = claims_of("both, gpu 25/100 ms + fed counter, aperiodic, 10 s");
  EXPECT_GE(claims.partial_coverage, 0.99);
  EXPECT_GE(claims.coverage, 0.95);
}

class OwnCounterCell : public testing::TestWithParam<const char*> {};

TEST_P(OwnCounterCell, IsNotFlaggedAsFed) {
  const Claims claims = claims_of(std::string("both, gpu 25/100 ms + counter, ") + GetParam());
  EXPECT_LE(claims.partial_coverage, 0.01);
  EXPECT_LE(claims.coverage_unknown, 0.05);
  EXPECT_GE(claims.coverage, 0.95);
}

INSTANTIATE_TEST_SUITE_P(Loads, OwnCounterCell,
                         testing::Values("aperiodic, 10 s", "work, 130 ms square, 10 s",
                                         "sine 3 Hz, 10 s", "bursts, 10 s",
                                         "square of 104 ms, 10 s"));

}  // namespace
}  // namespace wattle::lab
