#include "usage/usage_statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const TimePoint kFirstSample{1h};

TEST(CpuPercentTracker, IsTheMeanOfAllTime) {
  CpuPercentTracker busy;
  busy.begin(kFirstSample, 5s);
  busy.add(kFirstSample + 100ms, 5100ms, false);
  busy.add(kFirstSample + 2s, 5600ms, true);
  busy.end();
  EXPECT_DOUBLE_EQ(busy.mean().value_or(0), 30.0);
  EXPECT_DOUBLE_EQ(busy.max().value_or(0), 30.0);
}

TEST(CpuPercentTracker, IsLargestInTheBusiestSpan) {
  CpuPercentTracker busy;
  busy.begin(kFirstSample, 0s);
  busy.add(kFirstSample + 100ms, 100ms, false);  // a look, no span
  busy.add(kFirstSample + 1s, 500ms, true);
  busy.add(kFirstSample + 2s, 1400ms, true);
  busy.add(kFirstSample + 2100ms, 1500ms, true);  // the last look, too soon after a span
  busy.end();
  EXPECT_DOUBLE_EQ(busy.max().value_or(0), 90.0);
}

TEST(CpuPercentTracker, OfAShortTimeIsItsMean) {
  CpuPercentTracker busy;
  busy.begin(kFirstSample, 0s);
  busy.add(kFirstSample + 200ms, 100ms, true);
  busy.end();
  EXPECT_DOUBLE_EQ(busy.max().value_or(0), 50.0);
}

TEST(CpuPercentTracker, IsUnknownOfNoTime) {
  CpuPercentTracker busy;
  busy.begin(kFirstSample, 0s);
  busy.end();
  EXPECT_FALSE(busy.mean());
  EXPECT_FALSE(busy.max());
}

TEST(UsageStatistics, TakesMemoryOfOneMoment) {
  UsageStatistics statistics;
  TreeState state{.at = kFirstSample};
  state.main = {.rss_bytes = 100, .pss_bytes = 60, .private_bytes = 50};
  state.descendants = {.rss_bytes = 500, .pss_bytes = 300, .private_bytes = 290, .processes = 2};
  state.combined = {.rss_bytes = 600, .pss_bytes = 360, .private_bytes = 340};
  statistics.begin(state);
  state.at += 1s;
  state.main = {.rss_bytes = 90, .pss_bytes = 89, .private_bytes = 89};
  state.descendants = {.rss_bytes = 500, .pss_bytes = 310, .private_bytes = 1, .processes = 2};
  state.combined = {.rss_bytes = 590, .pss_bytes = 399, .private_bytes = 90};
  statistics.add(state);
  statistics.end();
  ResourceUsage usage;
  usage.max_ram.unit = "bytes";
  statistics.fill(usage, {});
  EXPECT_EQ(usage.max_ram.main.total_rss, 100);
  EXPECT_EQ(usage.max_ram.main.private_rss, 50);
  EXPECT_EQ(usage.max_ram.main.shared_rss, 50);
  EXPECT_EQ(usage.max_ram.descendants.total_rss, 310);
  EXPECT_EQ(usage.max_ram.descendants.private_rss, 1) << "of the same moment";
  EXPECT_EQ(usage.max_ram.combined.total_rss, 399);
  EXPECT_EQ(usage.peak_pss_bytes, 399U);
  EXPECT_THAT(usage.estimated, IsEmpty());
}

TEST(UsageStatistics, KnowNothingOfAProcessThatNobodyLookedAt) {
  UsageStatistics statistics;
  statistics.begin({.at = kFirstSample});
  ResourceUsage usage;
  usage.max_ram.unit = "bytes";
  statistics.fill(usage, {});
  EXPECT_FALSE(usage.max_ram.main.total_rss);
  EXPECT_FALSE(usage.max_ram.descendants.total_rss) << "not 0";
  EXPECT_FALSE(usage.cpu_utilization.main_n_threads) << "not 0";
  EXPECT_FALSE(usage.cpu_utilization.descendants_n_threads);
  ASSERT_GE(usage.unknown.size(), 2U);
  EXPECT_THAT(usage.unknown[0].keys, Contains("max_ram.descendants"));
  EXPECT_THAT(usage.unknown[1].keys, Contains("cpu_utilization.main_n_threads"));
}

TEST(UsageStatistics, FlagsUpperBounds) {
  UsageStatistics statistics;
  TreeState state{.at = kFirstSample};
  state.main = {.rss_bytes = 100, .pss_bytes = 60, .private_bytes = 50};
  state.descendants = {
      .rss_bytes = 500, .pss_bytes = 500, .private_bytes = 9, .is_estimated = true};
  state.combined = {.rss_bytes = 600, .pss_bytes = 560, .private_bytes = 59, .is_estimated = true};
  statistics.begin(state);
  ResourceUsage usage;
  usage.max_ram.unit = "bytes";
  statistics.fill(usage, {.too_large = 1});
  EXPECT_THAT(usage.estimated, Contains("max_ram.descendants.total_rss"));
  EXPECT_THAT(usage.estimated, Contains("max_ram.combined.total_rss"));
  EXPECT_THAT(usage.estimated, testing::Not(Contains("max_ram.main.total_rss")));
  EXPECT_THAT(usage.estimated, Not(Contains("max_ram.descendants.shared_rss")));
  EXPECT_FALSE(usage.max_ram.descendants.shared_rss) << "a bound less a bound is none";
  EXPECT_FALSE(usage.peak_pss_bytes);
  ASSERT_FALSE(usage.unknown.empty());
  EXPECT_THAT(usage.unknown.back().reason, testing::HasSubstr("more than 100 ms"));
}

TEST(UsageStatistics, LetNoBoundWinOverWhatWasKnown) {
  UsageStatistics statistics;
  TreeState state{.at = kFirstSample};
  state.main = {.rss_bytes = 250, .pss_bytes = 100, .private_bytes = 50};
  state.descendants = {.rss_bytes = 600, .pss_bytes = 350, .private_bytes = 200};
  state.combined = {.rss_bytes = 850, .pss_bytes = 450, .private_bytes = 250};
  statistics.begin(state);
  state.at += 1s;
  state.combined = {.rss_bytes = 850,
                    .pss_bytes = 850,
                    .least_bytes = 400,
                    .private_bytes = 850,
                    .is_estimated = true};
  statistics.add(state);
  ResourceUsage usage;
  usage.max_ram.unit = "bytes";
  statistics.fill(usage, {.budget = 1});
  EXPECT_EQ(usage.max_ram.combined.total_rss, 450);
  EXPECT_EQ(usage.max_ram.combined.private_rss, 250);
  EXPECT_EQ(usage.max_ram.combined.shared_rss, 200);
  EXPECT_EQ(usage.peak_pss_bytes, 450U);
  EXPECT_THAT(usage.estimated, IsEmpty());
  ASSERT_EQ(usage.bounds.size(), 2U) << "and says how large it can have been";
  EXPECT_EQ(usage.bounds[0].key, "max_ram.combined.total_rss");
  EXPECT_EQ(usage.bounds[0].at_most, 850.0);
  EXPECT_EQ(usage.bounds[1].key, "peak_pss_bytes");
  EXPECT_THAT(usage.to_text(), testing::HasSubstr("Total RSS: 450.0 (at most 850.0)"));
  EXPECT_THAT(usage.to_json(),
              testing::HasSubstr(R"("at_most":{"max_ram.combined.total_rss":850.0})"));
}

TEST(UsageStatistics, SayNothingOfABoundThatIsNoNews) {
  UsageStatistics statistics;
  TreeState state{.at = kFirstSample};
  state.main = {.rss_bytes = 500};
  state.combined = {.rss_bytes = 500, .pss_bytes = 450, .private_bytes = 250};
  statistics.begin(state);
  state.at += 1s;
  state.combined = {.rss_bytes = 500, .pss_bytes = 455, .is_estimated = true};
  statistics.add(state);
  ResourceUsage usage;
  usage.max_ram.unit = "bytes";
  statistics.fill(usage, {.budget = 1});
  EXPECT_THAT(usage.bounds, IsEmpty());
}

TEST(UsageStatistics, TakeABoundWhereMoreWasThereThanEverKnown) {
  UsageStatistics statistics;
  TreeState state{.at = kFirstSample};
  state.main = {.rss_bytes = 10};
  state.combined = {.rss_bytes = 10, .pss_bytes = 10, .private_bytes = 10};
  statistics.begin(state);
  state.at += 1s;
  state.combined = {.rss_bytes = 850,
                    .pss_bytes = 850,
                    .least_bytes = 400,
                    .private_bytes = 850,
                    .is_estimated = true};
  statistics.add(state);
  ResourceUsage usage;
  usage.max_ram.unit = "bytes";
  statistics.fill(usage, {.budget = 1});
  EXPECT_EQ(usage.max_ram.combined.total_rss, 850);
  EXPECT_THAT(usage.estimated, Contains("max_ram.combined.total_rss"));
  EXPECT_FALSE(usage.peak_pss_bytes);
}

/// One process that had 100 bytes at its only look, and `peak_bytes` in between.
ResourceUsage usage_with_peak(const PeakMemory& peaks) {
  UsageStatistics statistics;
  TreeState state{.at = kFirstSample};
  state.main = state.combined = {.rss_bytes = 100, .pss_bytes = 60, .private_bytes = 50};
  statistics.begin(state);
  ResourceUsage usage;
  usage.max_ram.unit = "bytes";
  statistics.fill(usage, {}, peaks);
  return usage;
}

TEST(UsageStatistics, TakesThePeakBetweenTwoLooksFromTheKernel) {
  const ResourceUsage usage = usage_with_peak({.main_bytes = 1000});
  EXPECT_EQ(usage.max_ram.main.total_rss, 1000);
  EXPECT_FALSE(usage.max_ram.main.private_rss) << "that of another moment";
  EXPECT_FALSE(usage.max_ram.main.shared_rss);
  EXPECT_EQ(usage.max_ram.combined.total_rss, 1000) << "no less than a part of it";
  EXPECT_EQ(usage.max_ram.descendants.total_rss, 0);
  ASSERT_FALSE(usage.unknown.empty());
  EXPECT_THAT(usage.unknown.front().keys, Contains("max_ram.main.private_rss"));
}

TEST(UsageStatistics, TakesTheKernelsPeakWithTheSplitOfALookNearIt) {
  const ResourceUsage usage = usage_with_peak({.main_bytes = 105});
  EXPECT_EQ(usage.max_ram.main.total_rss, 105);
  EXPECT_EQ(usage.max_ram.main.private_rss, 50);
  EXPECT_EQ(usage.max_ram.main.shared_rss, 55);
  EXPECT_EQ(usage.max_ram.combined.total_rss, 60) << "its pages that others have count in part";
}

TEST(UsageStatistics, TakesAPeakOfWhomeverForThatOfAll) {
  const ResourceUsage usage = usage_with_peak({.main_bytes = 100, .other_bytes = 1000});
  EXPECT_EQ(usage.max_ram.main.total_rss, 100);
  EXPECT_EQ(usage.max_ram.descendants.total_rss, 0);
  EXPECT_EQ(usage.max_ram.combined.total_rss, 1000);
}

}  // namespace
}  // namespace wattle
