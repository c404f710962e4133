#include "run_monitor/tables/dmon_table.hpp"

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

/// The summary of GPU 0 of `nvidia-smi dmon --format csv`.
GpuSummary first_of(const std::vector<std::string>& lines) {
  const GpuTable table = table_of(lines).result();
  return table.gpus.empty() ? GpuSummary{} : table.gpus.front();
}

TEST(DmonTable, ReadsCellsBetweenCommas) {
  const DmonTable table =
      table_of({"#gpu, pwr, gtemp, mtemp, sm, mem, enc, dec, mclk, pclk",
                "#Idx, W, C, C, %, %, %, %, MHz, MHz", "0, 60, 40, -, 20, 5, 0, 0, 2619, 1980",
                "1, 70, 40, -, 21, 5, 0, 0, 2619, 1980"});
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.bad_rows(), 0U);
  const GpuTable result = table.result();
  ASSERT_EQ(result.gpus.size(), 2U);
  EXPECT_EQ(result.gpus[0].power_watts_mean, 60.0);
  EXPECT_EQ(result.gpus[1].gpu_util_mean_pct, 21.0);
  EXPECT_EQ(result.all.mem_util_mean_pct, 5.0);
}

TEST(DmonTable, ReadsCellsBetweenCommasWithDateTimeAndRepeatedHeaders) {
  const std::vector<std::string> header = {"#Date, Time, gpu, pwr, sm",
                                           "#YYYYMMDD, HH:MM:SS, Idx, W, %"};
  std::vector<std::string> lines = header;
  lines.emplace_back("20260302, 09:15:00, 0, 60, 20");
  lines.insert(lines.end(), header.begin(), header.end());
  lines.emplace_back("20260302, 09:15:01, 0, 80, -");
  const GpuSummary gpu = first_of(lines);
  EXPECT_EQ(gpu.name, "0");
  EXPECT_EQ(gpu.power_watts_mean, 70.0);
  EXPECT_EQ(gpu.gpu_util_mean_pct, 20.0);
}

TEST(DmonTable, KeepsTheCellsBesideAnEmptyOne) {
  const GpuSummary gpu = first_of({"#gpu, pwr, sm", "0, , 20"});
  EXPECT_FALSE(gpu.power_watts_mean);
  EXPECT_EQ(gpu.gpu_util_mean_pct, 20.0);
}

TEST(DmonTable, HonoursTheLineOfUnits) {
  EXPECT_EQ(first_of({"# gpu pwr fb", "# Idx mW MB", "0 60000 1000"}).power_watts_mean, 60.0);
  const GpuSummary gpu = first_of({"# gpu pwr fb", "# Idx hp MB", "0 60000 1000"});
  EXPECT_FALSE(gpu.power_watts_mean);
  EXPECT_EQ(gpu.peak_vram_mb, 1000.0) << "nvidia-smi's MB are MiB";
}

TEST(DmonTable, NamesWhatDoesNotFit) {
  EXPECT_NE(table_of({"0, 60, 40"}).why_bad().find("# gpu"), std::string::npos);
  EXPECT_EQ(table_of({"#gpu, sm", "0, 1, 2"}).why_bad(), "it has 3 cells, and the header 2");
}

}  // namespace
}  // namespace wattle
