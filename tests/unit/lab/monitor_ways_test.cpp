// The power monitor's public face over the lab's loads: the figures of the modes that it is built
// on, to the last bit.
#include <gtest/gtest.h>

#include <string>

#include "lab/cells.hpp"
#include "lab/estimators.hpp"

namespace wattle::lab {
namespace {

struct Compared {
  int windows = 0;
  int known = 0;
};

/// Every load and length of the lab's table for the way's mode, a few trials each.
Compared compare(const Way& way) {
  constexpr std::uint64_t kTrials = 5;
  Compared compared;
  const Way* const mode = find_mode(way.name);
  for (const Cell& cell : all_cells(std::nullopt)) {
    if (cell.mode != way.name) continue;
    for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
      World world(cell.machine, cell.load, seed);
      World same_world(cell.machine, cell.load, seed);
      const Estimate expected = mode->estimate(world, cell.window_s);
      const Estimate monitored = way.estimate(same_world, cell.window_s);
      EXPECT_EQ(monitored.energy_j, expected.energy_j) << cell.name();
      EXPECT_EQ(monitored.half_width_j, expected.half_width_j) << cell.name();
      EXPECT_EQ(monitored.flags, expected.flags) << cell.name();
      EXPECT_EQ(monitored.begin, expected.begin) << cell.name();
      EXPECT_EQ(monitored.end, expected.end) << cell.name();
      ++compared.windows;
      compared.known += expected.energy_j ? 1 : 0;
    }
  }
  return compared;
}

TEST(PowerMonitorInTheLab, SaysWhatTheModesSayToTheLastBit) {
  for (const Way& way : monitor_ways()) {
    const Compared compared = compare(way);
    EXPECT_GE(compared.windows, 50) << way.name;
    EXPECT_GT(compared.known, compared.windows / 2) << way.name;
  }
}

}  // namespace
}  // namespace wattle::lab
