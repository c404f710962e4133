// The power monitor and the summary of a run monitor's files, over a load of the gauge's own
// period: the gauge sees its highest power alone, or its lowest, and the counter beside it all of
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/cells.hpp"
#include "lab/estimators.hpp"

namespace wattle::lab {
namespace {

/// The cell of the lab's table whose +- this holds.
Cell cell_of(std::string_view mode) {
  const std::vector<Cell> cells = all_cells(std::nullopt);
  const auto found = std::ranges::find(cells, mode, &Cell::mode);
  EXPECT_NE(found, cells.end()) << mode;
  EXPECT_EQ(found->load.name, "square at the gauge's period");
  EXPECT_TRUE(found->machine.counter && !found->machine.counter_is_fed);
  return *found;
}

constexpr TrialOptions kTrialsOfClasses{.trials = 100, .seed = 1, .common_ways = false};

void expect_held(std::string_view mode) {
  const CellResult result = run_cell(cell_of(mode), kTrialsOfClasses);
  ASSERT_TRUE(result.wattle && result.wattle->claims);
  EXPECT_EQ(result.wattle->found, 1.0);
  EXPECT_GE(result.wattle->claims->coverage, 0.95);
  EXPECT_LT(result.wattle->errors.most, 0.05) << "the counter's energy, not the gauge's";
}

TEST(PublicClassesInTheLab, ThePowerMonitorsUncertaintyHoldsAtTheGaugesOwnPeriod) {
  expect_held("monitor");
}

TEST(PublicClassesInTheLab, ThePowerMonitorSaysThatTheGaugeDisagrees) {
  const CellResult result = run_cell(cell_of("monitor"), kTrialsOfClasses);
  ASSERT_TRUE(result.wattle && result.wattle->claims);
  EXPECT_GT(result.wattle->claims->far_off_beside, 0.8) << "what the gauge says stands beside";
  EXPECT_GT(result.wattle->claims->noticed_beside, 0.9);
}

TEST(PublicClassesInTheLab, TheSummarysUncertaintyHoldsAtTheGaugesOwnPeriod) {
  expect_held("summary");
}

}  // namespace
}  // namespace wattle::lab
