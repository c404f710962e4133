// What real boards showed, as single cells of the lab: the truth lies within the +-.
#include "lab/board_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace wattle::lab {
namespace {

constexpr TrialOptions kTrialsOfBoards{.trials = 400, .seed = 1, .common_ways = false};

class BoardCell : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static Cell cell() {
    std::vector<Cell> cells;
    add_board_cells(cells);
    const auto found = std::ranges::find(cells, std::string(GetParam()), &Cell::name);
    if (found == cells.end()) throw std::invalid_argument(GetParam());
    return *found;
  }
};

TEST_P(BoardCell, IsCovered) {
  const CellResult result = run_cell(cell(), kTrialsOfBoards);
  ASSERT_TRUE(result.wattle && result.wattle->claims);
  EXPECT_GE(result.wattle->claims->coverage, 0.95);
  EXPECT_EQ(result.wattle->claims->gap, 0.0);
}

class NarrowBoardCell : public BoardCell {};

TEST_P(NarrowBoardCell, IsNoWiderThanThreeTimesTheError) {
  const Cell narrow = cell();
  ASSERT_EQ(narrow.exempt_from_width, "");
  const CellResult result = run_cell(narrow, kTrialsOfBoards);
  ASSERT_TRUE(result.wattle && result.wattle->claims);
  EXPECT_GE(result.wattle->claims->coverage, 0.95);
  EXPECT_LE(width_ratio(*result.wattle).value_or(0.0), 3.0);
}

INSTANTIATE_TEST_SUITE_P(
    LaggingGauge, NarrowBoardCell,
    testing::Values("gauge, gpu lagging by 55 ms, 10 Hz, step at the edges, 1 s",
                    "gauge, gpu lagging by 55 ms, 20 Hz, job, 1 s",
                    "gauge, gpu lagging by 55 ms, 50 Hz, sine 3 Hz, 1 s"));

INSTANTIATE_TEST_SUITE_P(ReadLessOftenThanRenewed, NarrowBoardCell,
                         testing::Values("gauge, gpu 10/20 ms, 20 Hz, sine 3 Hz, 10 s",
                                         "gauge, gpu 10/20 ms, 50 Hz, job, 130 ms square, 10 s",
                                         "gauge, gpu 10/20 ms, 50 Hz, aperiodic, 10 s",
                                         "gauge, gpu 25/100 ms, 20 Hz, job, 130 ms square, 10 s"));

INSTANTIATE_TEST_SUITE_P(
    DeepLoadAtTheGaugesPeriod, BoardCell,
    testing::Values("gauge, gpu 99.9/99.9 ms exactly, deep square at its period, 5 s",
                    "gauge, gpu 100/100 ms exactly, deep square at its period, 5 s",
                    "gauge, gpu 101.15/101.15 ms exactly, deep square at its period, 5 s"));

INSTANTIATE_TEST_SUITE_P(
    JobInsideItsWindow, BoardCell,
    testing::Values("gauge, gpu 101.15/101.15 ms exactly, job, 10 s",
                    "gauge, gpu 101.15/101.15 ms exactly, job, 130 ms square, 10 s"));

INSTANTIATE_TEST_SUITE_P(UnlistedGauge, BoardCell,
                         testing::Values("gauge, gpu 100/100 ms unlisted, 10 Hz, bursts, 1 s",
                                         "gauge, gpu 100/100 ms unlisted, 20 Hz, bursts, 1 s",
                                         "gauge, gpu 100/100 ms unlisted, 50 Hz, bursts, 1 s",
                                         "gauge, gpu 100/100 ms unlisted, 50 Hz, job, 1 s",
                                         "gauge, gpu 100/100 ms unlisted, 50 Hz, sine 3 Hz, 10 s"));

INSTANTIATE_TEST_SUITE_P(ReadMoreOftenThanRenewed, BoardCell,
                         testing::Values("gauge, gpu 25/100 ms, 20 Hz, aperiodic, 10 s",
                                         "gauge, gpu 25/100 ms, 50 Hz, aperiodic, 10 s",
                                         "gauge, gpu 10/20 ms, 50 Hz, sine 3 Hz, 10 s"));

INSTANTIATE_TEST_SUITE_P(
    LaggingGauge, BoardCell,
    testing::Values("gauge, gpu lagging by 55 ms, 10 Hz, aperiodic, 10 s",
                    "gauge, gpu lagging by 55 ms, 20 Hz, bursts, 1 s",
                    "gauge, gpu lagging by 55 ms, 50 Hz, step at the edges, 1 s",
                    "gauge, gpu lagging by 55 ms, 50 Hz, job, 1 s"));

INSTANTIATE_TEST_SUITE_P(
    AverageThatFreezes, BoardCell,
    testing::Values("gauge, gpu 1 s mean, freezing, 10 Hz, job, 10 s",
                    "gauge, gpu 1 s mean, freezing, 10 Hz, job, 130 ms square, 10 s"));

/// A hidden load on a gauge of this name.
CellResult result_of_hidden(const std::string& gauge) {
  std::vector<Cell> cells;
  add_board_cells(cells);
  const auto cell =
      std::ranges::find(cells, "gauge, " + gauge + ", square of 104 ms, 500 ms", &Cell::name);
  if (cell == cells.end() || !cell->is_hidden()) {
    ADD_FAILURE() << gauge;
    return {};
  }
  EXPECT_NEAR(cell->most_if_hidden(157.5), 2.5 / 4.5, 1e-12) << "(3.5 - 1) / (3.5 + 1)";
  return run_cell(*cell, kTrialsOfBoards);
}

void expect_off_by_what_it_allows(const CellResult& result) {
  ASSERT_TRUE(result.wattle && result.wattle->claims);
  EXPECT_GT(result.wattle->errors.most, 0.4) << "more than a third";
  EXPECT_LT(result.wattle->errors.most, 2.5 / 4.5 + result.wattle->claims->median_half_width);
}

TEST(HiddenLoad, IsOffByNoMoreThanItsHighestAndLowestPowerAllowAndFlagged) {
  const CellResult result = result_of_hidden("gpu 25/101.15 ms exactly");
  expect_off_by_what_it_allows(result);
  EXPECT_EQ(result.wattle->claims->partial_coverage, 1.0);
}

TEST(HiddenLoad, IsFlaggedOnAGaugeThatNobodyHasDescribed) {
  const CellResult result = result_of_hidden("gpu 25/101.15 ms exactly unlisted");
  expect_off_by_what_it_allows(result);
  EXPECT_EQ(result.wattle->claims->coverage_unknown, 1.0);
}

}  // namespace
}  // namespace wattle::lab
