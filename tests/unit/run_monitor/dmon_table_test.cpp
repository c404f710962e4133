#include "run_monitor/dmon_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wattle {
namespace {

DmonTable table_of(const std::vector<std::string>& lines) {
  DmonTable table;
  for (const std::string& line : lines) table.take(line);
  return table;
}

TEST(DmonTable, TakesTheMemoryControllerNotTheThirdWord) {
  const GpuTable table = table_of({"# gpu     fb   bar1     sm    mem    enc    dec",
                                   "# Idx     MB     MB      %      %      %      %",
                                   "    0   1031      4     39     17      0      0"})
                             .result();
  EXPECT_EQ(table.all.mem_util_mean_pct, 17.0);
  EXPECT_EQ(table.all.gpu_util_mean_pct, 39.0);
  EXPECT_EQ(table.all.peak_vram_mb, 1031.0);
}

TEST(DmonTable, FollowsAHeaderThatChanges) {
  const DmonTable table =
      table_of({"# gpu sm mem", "0 10 1", "# gpu mem sm", "0 3 30", "# Idx % %"});
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.result().all.mem_util_mean_pct, 2.0);
  EXPECT_EQ(table.result().all.gpu_util_mean_pct, 20.0);
}

TEST(DmonTable, CountsTheOtherCellsOfARowThatLacksOne) {
  const DmonTable table = table_of({"0 - 7 1000", "0 20 - -"});
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.result().all.gpu_util_mean_pct, 20.0);
  EXPECT_EQ(table.result().all.mem_util_mean_pct, 7.0);
}

TEST(DmonTable, LeavesOutRowsThatAreNotWhole) {
  const DmonTable table =
      table_of({"0 10 1 1000", "0 10 1", "0 10 1 1000 5", "x 10 1 1000", "- 10 1 1000",
                "0 10 1 10x0", std::string("0 10 1 \0", 8), "Failed to initialize NVML"});
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.bad_rows(), 7U);
}

TEST(DmonTable, DoesNotGuessAtOtherColumnsWithoutAHeader) {
  const DmonTable table = table_of({"    0   1031      4     39     17      0      0"});
  EXPECT_EQ(table.rows(), 0U);
  EXPECT_EQ(table.bad_rows(), 1U);
}

TEST(DmonTable, HasNoRoomForMoreGpusThanThereAre) {
  DmonTable table;
  for (int i = 0; i < 3000; ++i) table.take(std::to_string(i) + " 1 1 1");
  EXPECT_EQ(table.rows(), kMostGpus);
}

}  // namespace
}  // namespace wattle
