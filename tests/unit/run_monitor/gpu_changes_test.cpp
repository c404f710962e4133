// GPUs that come or leave in a table that does not name them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "run_monitor/rounds/row_gaps.hpp"
#include "run_monitor/tables/gpu_table.hpp"
#include "run_monitor/tables/table_power.hpp"

namespace wattle {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Board {
  double power_w;
  int memory_mib;
  int temperature;
};

std::string row_of(int ms, const Board& board) {
  return fmt::format("2026/11/21 00:{:02}:{:02}.{:03}, 50, 5, {}, 81920, {}, {}, 1410, 1593",
                     ms / 60'000, ms / 1000 % 60, ms % 1000, board.memory_mib, board.power_w,
                     board.temperature);
}

GpuTable table_of_gpus(const std::vector<std::string>& lines) {
  GpuCsv csv;
  for (const std::string& line : lines) csv.take(line);
  csv.end();
  return csv.result();
}

constexpr Board kStrong{.power_w = 500, .memory_mib = 60'000, .temperature = 60};
constexpr Board kWeak{.power_w = 100, .memory_mib = 18'000, .temperature = 40};

TEST(ChangingGpus, AreUnknownForAsLongAsTheyHaveNoRows) {
  std::vector<std::string> lines = {"timestamp, index, power.draw [W]"};
  for (int i = 0; i <= 200; ++i) {
    const std::string time = row_of(1000 * i, kWeak).substr(0, 23);
    lines.push_back(time + ", 0, 100");
    if (i <= 110) lines.push_back(time + ", 1, 100");  // it stops
    if (i >= 50) lines.push_back(time + ", 2, 100");   // it comes late
  }
  const GpuTable table = table_of_gpus(lines);
  ASSERT_THAT(table.gpus, SizeIs(3));
  EXPECT_EQ(table.gpus[0].energy_unknown, Seconds(0.0));
  EXPECT_EQ(table.gpus[1].energy, Joules(11000.0));
  EXPECT_EQ(table.gpus[1].energy_unknown, Seconds(90.0));
  EXPECT_EQ(table.gpus[2].energy_unknown, Seconds(50.0));
  EXPECT_EQ(table.all.energy_unknown, Seconds(90.0));
}

/// Rows of GPU 0, and of GPU 1 but for some, one each `period_s`; then the figures of GPU 1.
GpuSummary second_of(int period_s, int rounds, int from, int to, bool stops_alone = true) {
  std::vector<std::string> lines = {"timestamp, index, power.draw [W]"};
  for (int i = 0; i <= rounds; ++i) {
    const bool is_there = i < from || i >= to;
    const std::string time = row_of(1000 * period_s * i, kWeak).substr(0, 23);
    if (is_there || stops_alone) lines.push_back(time + ", 0, 300");
    if (is_there) lines.push_back(time + ", 1, 100");
  }
  return table_of_gpus(lines).gpus.at(1);
}

TEST(ChangingGpus, AreUnknownWhereTheirRowsStopWhileThoseOfOthersGoOn) {
  // Nine periods: were all without rows, the last power would be held.
  GpuSummary gpu = second_of(10, 200, 101, 109);
  EXPECT_EQ(gpu.energy_unknown, Seconds(90.0));
  EXPECT_EQ(gpu.energy, Joules(191.0 * 1000.0));
  gpu = second_of(1, 300, 101, 190);
  EXPECT_EQ(gpu.energy_unknown, Seconds(90.0));
  gpu = second_of(10, 12, 2, 8);
  EXPECT_EQ(gpu.energy_unknown, Seconds(70.0)) << "a short table too";
}

TEST(ChangingGpus, HoldTheirPowerWhereARowOrTwoAreMissing) {
  for (const int to : {102, 103}) {
    const GpuSummary gpu = second_of(10, 200, 101, to);
    EXPECT_EQ(gpu.energy_unknown, Seconds(0.0)) << to;
    EXPECT_EQ(gpu.energy, Joules(200.0 * 1000.0)) << to;
  }
}

TEST(ChangingGpus, HoldTheirPowerWhereTheWriterStopped) {
  const GpuSummary gpu = second_of(10, 200, 101, 109, false);
  EXPECT_EQ(gpu.energy_unknown, Seconds(0.0));
  EXPECT_EQ(gpu.energy, Joules(200.0 * 1000.0));
}

TEST(ChangingGpus, AreTheSameByTheirUuidUnderAnotherIndex) {
  // GPU-a falls off the bus: GPU-b is index 0 from then on.
  std::vector<std::string> lines = {"timestamp, index, uuid, power.draw [W]"};
  for (int i = 0; i <= 20; ++i) {
    const std::string time = row_of(1000 * i, kWeak).substr(0, 23);
    if (i <= 10) lines.push_back(time + ", 0, GPU-a, 500");
    lines.push_back(time + (i <= 10 ? ", 1, GPU-b, 100" : ", 0, GPU-b, 100"));
  }
  const GpuTable table = table_of_gpus(lines);
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_EQ(table.gpus[0].energy, Joules(5000.0));
  EXPECT_EQ(table.gpus[0].energy_unknown, Seconds(10.0));
  EXPECT_EQ(table.gpus[1].energy, Joules(2000.0));
  EXPECT_EQ(table.gpus[1].power_watts_max, 100.0);
}

TEST(ChangingGpus, AreFoundAgainByTheirModel) {
  std::vector<std::string> lines = {"timestamp, name, power.draw [W]"};
  for (int i = 0; i < 200; ++i) {
    const int begin_ms = 1000 * i + (i < 100 ? 0 : 37'000);
    for (int k = 0; k < 2; ++k) {
      const bool is_first = (k == 0) == (i < 100);
      lines.push_back(row_of(begin_ms + 4 * k, kWeak).substr(0, 23) +
                      (is_first ? ", NVIDIA A100, 100" : ", NVIDIA L40S, 300"));
    }
  }
  const GpuTable table = table_of_gpus(lines);
  ASSERT_THAT(table.gpus, SizeIs(2)) << table.problem;
  EXPECT_EQ(table.gpus[0].power_watts_max, 100.0);
  EXPECT_NEAR(table.gpus[0].energy->si(), 100.0 * 198.0, 500.0);
  EXPECT_NEAR(table.gpus[1].energy->si(), 300.0 * 198.0, 1500.0);
}

TEST(ChangingGpus, GetNoRowOfTheOneThatComesBeforeThem) {
  std::vector<std::string> lines;
  for (int i = 0; i <= 200; ++i) {
    // The first row of the other one comes when the next of the first is expected.
    if (i >= 100) lines.push_back(row_of(1000 * i, kWeak));
    lines.push_back(row_of(1000 * i + (i >= 100 ? 2 : 0), kStrong));
  }
  const GpuTable table = table_of_gpus(lines);
  ASSERT_THAT(table.gpus, SizeIs(2));
  for (const GpuSummary& gpu : table.gpus) {
    if (gpu.name == "1") {
      EXPECT_NEAR(gpu.energy->si(), 200.002 * 500.0, 0.1);
    }
    if (gpu.name == "0") {
      EXPECT_LE(gpu.energy->si(), 100.0 * 100.0);
      EXPECT_GE(gpu.energy->si(), 95.0 * 100.0);
    }
  }
}

TEST(ChangingGpus, HoldNoPowerUntilARowThatMayBeAnothers) {
  const Board alike{.power_w = 100, .memory_mib = 60'000, .temperature = 60};
  std::vector<std::string> lines;
  for (int i = 0; i <= 200; ++i) {
    if (i <= 100) lines.push_back(row_of(1000 * i, kStrong));
    lines.push_back(row_of(1000 * i + 2, alike));
  }
  const GpuTable table = table_of_gpus(lines);
  EXPECT_THAT(table.gpus, IsEmpty()) << "which of them left is unknown";
  const double truth_j = 100.0 * 500.0 + 200.0 * 100.0;
  EXPECT_LE(table.all.energy->si(), truth_j + 1.0);
  EXPECT_GE(table.all.energy->si() + table.all.energy_unknown.count() * 600.0, truth_j);
}

TEST(ChangingGpus, AreFoundAgainByMemoryThatNeverChanged) {
  // Two differ by less than a hundredth. After the pause they come in another order.
  constexpr std::array<int, 4> kMemoryMib = {60'000, 60'200, 18'000, 4'000};
  constexpr std::array<std::size_t, 4> kLater = {2, 0, 3, 1};
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) {
    const int begin_ms = 1000 * i + (i < 100 ? 0 : 37'000);
    for (std::size_t k = 0; k < kLater.size(); ++k) {
      const std::size_t gpu = i < 100 ? k : kLater.at(k);
      lines.push_back(row_of(begin_ms + 4 * static_cast<int>(k),
                             {.power_w = 100.0 * static_cast<double>(gpu + 1),
                              .memory_mib = kMemoryMib.at(gpu),
                              .temperature = 50}));
    }
  }
  const GpuTable table = table_of_gpus(lines);
  ASSERT_THAT(table.gpus, SizeIs(4)) << table.problem;
  for (const GpuSummary& gpu : table.gpus) {
    const double power_w = 100.0 * (std::stod(gpu.name) + 1.0);
    EXPECT_NEAR(gpu.energy->si(), power_w * 198.0, power_w * 5.0) << gpu.name;
    EXPECT_EQ(gpu.power_watts_max, power_w) << gpu.name;
  }
}

TEST(ChangingGpus, AreNotMixedByARestartInThePauseThatIsHardlyLate) {
  // Of the last round before it only the first row was written: rows go on as A B A B.
  const Board one{.power_w = 100, .memory_mib = 60'000, .temperature = 50};
  const Board two{.power_w = 300, .memory_mib = 18'000, .temperature = 50};
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) {
    const int begin_ms = 1000 * i + (i < 100 ? 0 : 150);
    lines.push_back(row_of(begin_ms, i < 100 ? one : two));
    if (i != 99) lines.push_back(row_of(begin_ms + 4, i < 100 ? two : one));
  }
  const GpuTable table = table_of_gpus(lines);
  ASSERT_TRUE(table.all.energy) << table.problem;
  const double truth_j = 400.0 * 199.0;
  const double most_w = 400.0;  // of both together
  EXPECT_LE(table.all.energy->si(), truth_j + 400.0);
  EXPECT_GE(table.all.energy->si() + table.all.energy_uncertainty->si() +
                table.all.energy_unknown.count() * most_w,
            truth_j);
  for (const GpuSummary& gpu : table.gpus) {
    EXPECT_EQ(gpu.power_watts_max, gpu.power_watts_mean) << gpu.name;
  }
}

TEST(ChangingGpus, HaveThePowersOfRowsThatMayBeTheirsInTheirError) {
  const auto energy_of = [](const PossiblePowers& between) {
    TablePower power;
    RowGaps gaps;
    const Cell cell(100.0);
    for (int i = 0; i < 20; ++i) power.add(1000 * i, gaps.next(1000 * i), cell);
    power.add(24'000, gaps.next(24'000), cell, between);
    return power.energy();
  };
  PossiblePowers between;
  between.add(Cell(80.0));
  between.add(Cell(400.0));
  EXPECT_LT(energy_of({}).uncertainty, Joules(100.0));
  EXPECT_GE(energy_of(between).uncertainty, Joules(300.0 * 4.0));
}

}  // namespace
}  // namespace wattle
