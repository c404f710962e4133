// Averages of unknown filters: the truth lies within the ±, and they are never preferred.
#include "lab/filter_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/trials_argument.hpp"

namespace wattle::lab {
namespace {

/// Every so many cells, so that each filter, load and update interval is among them;
/// bench/filter_lab tries all.
constexpr std::size_t kEachCell = 67;
constexpr std::size_t kFilterTrials = 40;
/// 95 % of 40 trials, less what chance can do to that.
constexpr double kLeastCovered = 0.85;

TEST(FilterWorld, IsCoveredWhereNothingIsHidden) {
  const std::vector<FilterCell> cells = filter_cells();
  for (std::size_t i = 0; i < cells.size(); i += kEachCell) {
    if (!cells[i].limit().empty()) continue;
    EXPECT_GE(simulate_filter(cells[i], kFilterTrials, 1).coverage, kLeastCovered)
        << cells[i].name();
  }
}

TEST(FilterWorld, BelievesNoAverageBesideAnotherSensor) {
  for (const Beside beside : {Beside::counter, Beside::instant}) {
    const FilterCell cell = {
        .filter = {2, 0.6, 0.6}, .load = "steps at the edges", .beside = beside};
    const FilterResult result = simulate_filter(cell, kFilterTrials, 1);
    EXPECT_EQ(result.believed, 0.0) << cell.name();
    EXPECT_EQ(result.disagrees, 0.0) << "it holds the truth: " << cell.name();
    EXPECT_GE(result.coverage, kLeastCovered) << cell.name();
  }
}

TEST(FilterWorld, SaysThatTheFilterIsNotKnownWhateverItHides) {
  for (const std::string_view load : {"step near the end", "random", "work, 130 ms square"}) {
    const FilterCell cell = {.filter = {1, 0.3, 0.9}, .load = load};
    EXPECT_FALSE(cell.limit().empty()) << load;
    EXPECT_EQ(simulate_filter(cell, 5, 1).unknown, 1.0) << load;
  }
}

TEST(FilterWorld, SaysWhereALopsidedFilterDisagreesWithACounter) {
  // It shows far more than a load that swings quickly draws, and its values do not show that.
  const FilterCell cell = {.filter = {1, 0.1, 1.9},
                           .load = "work, 130 ms square",
                           .window_s = 10.0,
                           .beside = Beside::counter};
  const FilterResult result = simulate_filter(cell, kFilterTrials, 1);
  EXPECT_EQ(result.believed, 0.0);
  EXPECT_GE(result.coverage, kLeastCovered);
  EXPECT_EQ(result.disagrees, 1.0);
}

TEST(TrialsArgument, IsANumberFromOneOrAnError) {
  const std::vector<std::string> words = {"40", "0", "x", "-1", "1.5", ""};
  EXPECT_EQ(trials_argument(words, 0, 200), 40U);
  EXPECT_EQ(trials_argument(words, words.size(), 200), 200U);
  for (std::size_t i = 1; i < words.size(); ++i) {
    EXPECT_THROW((void)trials_argument(words, i, 200), std::invalid_argument) << words[i];
  }
}

}  // namespace
}  // namespace wattle::lab
