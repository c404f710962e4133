#include <gtest/gtest.h>

#include "run/running_output.hpp"

namespace wattle::app {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kBegin{1h};

TreeState tree_of(std::chrono::nanoseconds main, std::chrono::nanoseconds descendants,
                  std::uint64_t pss_bytes, bool is_estimated = false) {
  TreeState tree;
  tree.main.cpu = main;
  tree.descendants.cpu = descendants;
  tree.combined.pss_bytes = pss_bytes;
  tree.combined.is_estimated = is_estimated;
  return tree;
}

TEST(RunStatus, IsALineWithMeansSinceTheLineBefore) {
  RunStatus status(2s, kBegin);
  const TreeState first = tree_of(1s, 1s, 1'000'000);
  EXPECT_EQ(status.add(kBegin + 1s, Watts(100.0), &first), std::nullopt);
  const TreeState second = tree_of(1s, 3s, 2'000'000);
  EXPECT_EQ(status.add(kBegin + 2s, Watts(200.0), &second),
            "2.000 s: 150.0 W, 2.00 CPU cores in use, 2.000 MB memory");
  const TreeState third = tree_of(2s, 3s, 3'000'000);
  EXPECT_EQ(status.add(kBegin + 3s, Watts(80.0), &third), std::nullopt);
  EXPECT_EQ(status.add(kBegin + 4s, Watts(90.0), &third),
            "4.000 s: 85.00 W, 0.50 CPU cores in use, 3.000 MB memory");
}

TEST(RunStatus, SaysThatThePowerIsUnknownWhereThatOfOneIntervalIs) {
  RunStatus status(2s, kBegin);
  EXPECT_EQ(status.add(kBegin + 1s, std::nullopt, nullptr), std::nullopt);
  EXPECT_EQ(status.add(kBegin + 2s, Watts(200.0), nullptr), "2.000 s: power unknown");
  EXPECT_EQ(status.add(kBegin + 4s, Watts(200.0), nullptr), "4.000 s: 200.0 W");
}

TEST(RunStatus, HasTheErrorOfItsMeanAndTheFlags) {
  RunStatus status(2s, kBegin);
  MeasuredEnergy energy{.energy = Joules(100.0), .uncertainty = Joules(3.0)};
  EXPECT_EQ(status.add(kBegin + 1s, Watts(100.0), nullptr, energy), std::nullopt);
  energy.uncertainty = Joules(4.0);
  energy.flags = Flags::of(Flag::partial_coverage);
  EXPECT_EQ(status.add(kBegin + 2s, Watts(100.0), nullptr, energy),
            "2.000 s: 100.0 W ±2.5 W, partial_coverage");
  energy.flags = {};
  EXPECT_EQ(status.add(kBegin + 3s, Watts(100.0), nullptr, energy), std::nullopt);
  EXPECT_EQ(status.add(kBegin + 4s, Watts(100.0), nullptr), "4.000 s: 100.0 W")
      << "the error of an interval is unknown";
}

TEST(RunStatus, NamesMemoryThatIsAnUpperBound) {
  RunStatus status(1s, kBegin);
  const TreeState tree = tree_of(0s, 0s, 5'000'000, true);
  EXPECT_EQ(status.add(kBegin + 1s, Watts(10.0), &tree),
            "1.000 s: 10.00 W, 0.00 CPU cores in use, at most 5.000 MB memory");
}

TEST(RunStatus, LeavesOutLinesWhoseTimeHasPassed) {
  RunStatus status(1s, kBegin);
  EXPECT_EQ(status.add(kBegin + 5s, Watts(10.0), nullptr), "5.000 s: 10.00 W");
  EXPECT_EQ(status.add(kBegin + 5500ms, Watts(10.0), nullptr), std::nullopt);
  EXPECT_EQ(status.add(kBegin + 6s, Watts(10.0), nullptr), "6.000 s: 10.00 W");
}

}  // namespace
}  // namespace wattle::app
