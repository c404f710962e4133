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
