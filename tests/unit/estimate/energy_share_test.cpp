#include "estimate/energy_share.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lab/random.hpp"
#include "lab/share_world.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;

constexpr IdleRange kIdle{.low = Watts(48.0), .typical = Watts(50.0), .high = Watts(52.0)};

/// A second of 100 W.
ShareSpan span(double command, double busy, double watts = 100.0) {
  return {.wall = Seconds(1.0),
          .energy = Joules(watts),
          .command = Seconds(command),
          .busy = Seconds(busy)};
}

std::int64_t sum_of(const ShareBalance& balance) {
  return balance.idle_nj.value_or(0) + balance.command_nj + balance.others_nj +
         balance.unexplained_nj;
}

TEST(ShareBalance, GivesACommandThatWasAloneEverythingAboveIdle) {
  const std::vector spans = {span(4.0, 4.0), span(4.0, 4.0)};
  const ShareBalance balance = balance_of(spans, Joules(200.0), kIdle);
  EXPECT_EQ(balance.idle_nj, 100'000'000'000);
  EXPECT_EQ(balance.command_nj, 100'000'000'000);
  EXPECT_EQ(balance.others_nj, 0);
  EXPECT_EQ(balance.unexplained_nj, 0);
  EXPECT_DOUBLE_EQ(balance.command.low.si(), 96.0);
  EXPECT_DOUBLE_EQ(balance.command.high.si(), 104.0);
}

TEST(ShareBalance, DividesByCpuTimeAndSaysHowFarThatCanBeOff) {
  const ShareBalance balance = balance_of(std::vector{span(1.0, 4.0)}, Joules(100.0), kIdle);
  EXPECT_EQ(balance.command_nj, 12'500'000'000);
  EXPECT_EQ(balance.others_nj, 37'500'000'000);
  EXPECT_LT(balance.command.low.si(), 12.5);
  EXPECT_GT(balance.command.high.si(), 12.5);
  EXPECT_LE(balance.command.high.si(), 52.0);
}

TEST(ShareBalance, LeavesToIdleWhatRanWhileTheBaselineWasTaken) {
  IdleRange idle = kIdle;
  idle.busy_cpus = 0.5;
  const ShareBalance balance = balance_of(std::vector{span(2.0, 2.5)}, Joules(100.0), idle);
  EXPECT_EQ(balance.command_nj, 50'000'000'000);
  EXPECT_EQ(balance.others_nj, 0);
}

TEST(ShareBalance, WithoutABaselineCallsTheLowestPowerUnexplained) {
  const std::vector spans = {span(1.0, 1.0, 100.0), span(0.0, 0.0, 60.0)};
  const ShareBalance balance = balance_of(spans, Joules(160.0), {});
  EXPECT_FALSE(balance.idle_nj);
  EXPECT_EQ(balance.unexplained_nj, 120'000'000'000);
  EXPECT_EQ(balance.command_nj, 40'000'000'000);
  EXPECT_DOUBLE_EQ(balance.command.low.si(), 40.0);
  EXPECT_DOUBLE_EQ(balance.command.high.si(), 100.0);
}

TEST(ShareBalance, SaysNothingOfACommandWhoseOnlySpanHasNoIdlePower) {
  const ShareBalance balance = balance_of(std::vector{span(1.0, 1.0)}, Joules(100.0), {});
  EXPECT_EQ(balance.unexplained_nj, balance.measured_nj);
  EXPECT_DOUBLE_EQ(balance.command.low.si(), 0.0);
  EXPECT_DOUBLE_EQ(balance.command.high.si(), 100.0);
}

TEST(ShareBalance, OfLessThanTheBaselineDoesNotUseIt) {
  const std::vector spans = {span(1.0, 2.0, 30.0)};
  const ShareBalance balance = balance_of(spans, Joules(30.0), kIdle);
  EXPECT_TRUE(balance.is_below_idle);
  EXPECT_FALSE(balance.idle_nj);
  EXPECT_EQ(balance.unexplained_nj, balance.measured_nj);
  EXPECT_EQ(sum_of(balance), balance.measured_nj);
  EXPECT_DOUBLE_EQ(balance.command.low.si(), 0.0);
  EXPECT_DOUBLE_EQ(balance.command.high.si(),
                   balance_of(spans, Joules(30.0), {}).command.high.si());
  EXPECT_GT(balance.command.high.si(), 15.0);
}

TEST(ShareBalance, OfALittleLessThanIdleWithinItsRangeUsesIt) {
  const double low = kIdle.low.si();
  const ShareBalance balance =
      balance_of(std::vector{span(1.0, 2.0, low + 0.01)}, Joules(low + 0.01), kIdle);
  EXPECT_FALSE(balance.is_below_idle);
  EXPECT_TRUE(balance.idle_nj);
}

TEST(ShareBalance, LeavesUnexplainedWhatNobodyUsedCpuTimeFor) {
  const ShareBalance balance = balance_of(std::vector{span(0.0, 0.0)}, Joules(100.0), kIdle);
  EXPECT_EQ(balance.unexplained_nj, 50'000'000'000);
  EXPECT_EQ(balance.command_nj, 0);
}

TEST(ShareBalance, OfNothingIsUnexplained) {
  const ShareBalance balance = balance_of({}, Joules(5.0), kIdle);
  EXPECT_EQ(balance.unexplained_nj, 5'000'000'000);
  EXPECT_EQ(sum_of(balance), balance.measured_nj);
}

TEST(ShareBalance, AlwaysCloses) {
  lab::Random random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<ShareSpan> spans;
    for (int i = 0; i < 5; ++i) {
      const double busy = random.uniform(0.0, 8.0);
      spans.push_back(span(busy * random.uniform(), busy, random.uniform(0.0, 200.0)));
    }
    const Joules measured(random.uniform(0.0, 1e6) / 16384.0);
    const bool has_idle = random.chance(0.5);
    const ShareBalance balance =
        balance_of(spans, measured, has_idle ? std::optional(kIdle) : std::nullopt);
    EXPECT_EQ(sum_of(balance), balance.measured_nj);
    EXPECT_GE(balance.command_nj, 0);
    EXPECT_GE(balance.others_nj, 0);
    EXPECT_GE(balance.unexplained_nj, 0);
    EXPECT_LE(balance.command.low, balance.command.typical);
    EXPECT_LE(balance.command.typical, balance.command.high);
  }
}

TEST(PartOf, GivesATrickleOfOthersLittle) {
  const auto part = part_of(Seconds(8.0), Seconds(0.01), Seconds(1.0));
  ASSERT_TRUE(part);
  EXPECT_GT(part->low, 0.98);
}

TEST(PartOf, IsNotKnownWithoutCpuTime) {
  EXPECT_FALSE(part_of(Seconds(0), Seconds(0), Seconds(1.0)));
  EXPECT_FALSE(part_of(Seconds(1.0), Seconds(0), Seconds(0)));
}

TEST(ShareMoments, StayLimitedAndKeepBothEnds) {
  ShareMoments moments;
  const TimePoint begin{};
  for (int i = 0; i <= 100'000; ++i) moments.add({.at = begin + milliseconds(100 * i)});
  const TimePoint end = begin + milliseconds(100 * 100'000 + 50);
  moments.end({.at = end});
  EXPECT_LE(moments.all().size(), ShareMoments::kMost + 1);
  EXPECT_GT(moments.all().size(), ShareMoments::kMost / 4);
  EXPECT_EQ(moments.all().front().at, begin);
  EXPECT_EQ(moments.all().back().at, end);
}

TEST(ShareMoments, OfAShortRunAreItsEnds) {
  ShareMoments moments;
  for (int i = 0; i < 5; ++i) moments.add({.at = TimePoint(milliseconds(100 * i))});
  moments.end({.at = TimePoint(milliseconds(450))});
  ASSERT_EQ(moments.all().size(), 2U);
}

/// bench/shares has the same with 10,000 trials.
TEST(SimulatedShares, HoldTheTruth) {
  constexpr std::size_t kTrials = 200;
  for (const lab::ShareCell& cell : lab::share_cells()) {
    const lab::ShareResult result = lab::simulate_shares(cell, kTrials, 1);
    // 95 % of 200, less three standard deviations of chance.
    EXPECT_GE(result.coverage(), 0.90) << name_of(cell);
    EXPECT_EQ(result.closed, kTrials) << name_of(cell);
    if (cell.others == 0 && cell.has_baseline) {
      EXPECT_LE(result.median_half_width, 0.10) << name_of(cell);
    }
  }
}

}  // namespace
}  // namespace wattle
