#include "run_monitor/tables/gpu_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A row of the nine columns, `ms` after midnight of a day.
std::string row(int ms, const std::string& power, int util = 50) {
  return fmt::format("2026/11/21 00:{:02}:{:02}.{:03}, {}, 5, 1000, 81920, {}, 45, 1410, 1593",
                     ms / 60'000, ms / 1000 % 60, ms % 1000, util, power);
}

GpuCsv csv_of(const std::vector<std::string>& lines) {
  GpuCsv table;
  for (const std::string& line : lines) table.take(line);
  table.end();
  return table;
}

/// Rows of GPUs of 100, 200 ... W for 100 rounds each second, the times in a round as `skew` says.
template <class Skew>
std::vector<std::string> rounds_of(int gpus, Skew skew) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      lines.push_back(row(i * 1000 + skew(i, gpu), std::to_string(100 * (gpu + 1)), gpu));
    }
  }
  return lines;
}

TEST(GpuCsv, LeavesOutRowsThatAreNotWhole) {
  const std::string good = row(0, "100.0");
  GpuCsv table = csv_of({good, good.substr(0, 40), good + ", 1", row(1000, "1x"),
                         "2026/11/21 01:50:09.123, 50, 5, 10002026/11/21 01:50:10.123, 50, 5, "
                         "1000, 81920, 9999, 45, 1410, 1593",
                         std::string(50, '\0'), ",,,,,,,,", row(2000, "100.0")});
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.bad_rows(), 6U);
  EXPECT_EQ(table.result().all.power_watts_max, 100.0);
}

TEST(GpuCsv, GivesNoRowToAnotherGpuAfterATornOne) {
  // The first row of the second moment has no time: the row behind it is not that of GPU 0.
  const std::string torn = row(2000, "100.0", 10).substr(0, 18) + std::string(5, '\0') + ", 5";
  const GpuTable table =
      csv_of({row(0, "100.0", 10), row(0, "200.0", 90), torn, row(2000, "200.0", 90),
              row(4000, "100.0", 10), row(4000, "200.0", 90), row(6000, "100.0", 10),
              row(6000, "200.0", 90)})
          .result();
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_EQ(table.gpus[0].gpu_util_max_pct, 10.0);
  EXPECT_EQ(table.gpus[0].power_watts_max, 100.0);
  EXPECT_EQ(table.gpus[1].gpu_util_mean_pct, 90.0);
}

TEST(GpuCsv, GivesNoRowToAnotherGpuAfterTwoInOne) {
  std::vector<std::string> lines;
  for (int i = 0; i < 8; ++i) {
    for (const int gpu : {1, 2, 3}) {
      lines.push_back(row(2000 * i, std::to_string(100 * gpu), 30 * gpu));
    }
  }
  lines[12] = lines[12].substr(0, 40) + lines[13];
  lines.erase(lines.begin() + 13);
  const GpuTable table = csv_of(lines).result();
  ASSERT_THAT(table.gpus, SizeIs(3));
  for (std::size_t gpu = 0; gpu < 3; ++gpu) {
    EXPECT_EQ(table.gpus[gpu].power_watts_max, 100.0 * static_cast<double>(gpu + 1));
  }
}

TEST(GpuCsv, KnowsTheGpusOfALogThatStartsWithTheSecond) {
  std::vector<std::string> lines = rounds_of(2, [](int /*i*/, int gpu) { return 3 * gpu; });
  lines.erase(lines.begin());
  const GpuTable table = csv_of(lines).result();
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_NEAR(table.gpus[0].energy.value().si(), 9800.0, 1.0);
  EXPECT_NEAR(table.gpus[1].energy.value().si(), 19800.0, 1.0);
}

TEST(GpuCsv, KnowsTheGpusWhereOneRowIsMissing) {
  std::vector<std::string> lines = rounds_of(2, [](int /*i*/, int gpu) { return 3 * gpu; });
  lines.erase(lines.begin() + 60);
  const GpuTable table = csv_of(lines).result();
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_NEAR(table.gpus[0].energy.value().si(), 9900.0, 1.0);
  EXPECT_NEAR(table.gpus[1].energy.value().si(), 19800.0, 1.0);
}

TEST(GpuCsv, TakesADeviceForItsUuidWhereNumbersAreThoseOfTwoHosts) {
  std::vector<std::string> lines = {"timestamp, index, uuid, power.draw [W]"};
  for (int i = 0; i < 20; ++i) {
    for (const auto* gpu : {"GPU-1, 300", "GPU-2, 500"}) {
      lines.push_back(row(1000 * i, "").substr(0, 23) + ", 0, " + gpu);
    }
  }
  const GpuTable table = csv_of(lines).result();
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_EQ(table.gpus[0].name, "0 GPU-1");
  EXPECT_EQ(table.gpus[0].energy, Joules(5700.0));
  EXPECT_EQ(table.gpus[1].name, "0 GPU-2");
  EXPECT_EQ(table.gpus[1].energy, Joules(9500.0));
}

TEST(GpuCsv, TakesADeviceForItsBusIdOrSerial) {
  for (const std::string column : {"pci.bus_id", "serial"}) {
    std::vector<std::string> lines = {"timestamp, " + column + ", power.draw [W]"};
    for (int i = 0; i < 20; ++i) {
      lines.push_back(row(1000 * i, "").substr(0, 23) + ", A, 300");
      lines.push_back(row(1000 * i, "").substr(0, 23) + ", B, 100");
    }
    const GpuTable table = csv_of(lines).result();
    ASSERT_THAT(table.gpus, SizeIs(2));
    EXPECT_EQ(table.gpus[1].name, "B");
    EXPECT_EQ(table.gpus[1].energy, Joules(1900.0));
  }
}

TEST(GpuCsv, LeavesOutSharesOfMoreThanAll) {
  const GpuCsv table = csv_of({row(0, "100.0", 101), row(1000, "100.0", 100)});
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.bad_rows(), 1U);
}

TEST(GpuCsv, TakesAnErrorMessageForNoRow) {
  const GpuCsv table = csv_of(
      {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
       "that the latest NVIDIA driver is installed and running.",
       "No devices were found"});
  EXPECT_EQ(table.rows(), 0U);
  EXPECT_EQ(table.bad_rows(), 2U);
  EXPECT_FALSE(table.result().all.gpu_util_mean_pct);
  EXPECT_FALSE(table.result().all.energy);
}

TEST(GpuCsv, CountsTheOtherCellsOfARowThatLacksOne) {
  const GpuCsv table = csv_of({row(0, "[N/A]", 10), row(1000, "[Not Supported]", 20)});
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.result().all.gpu_util_mean_pct, 15.0);
  EXPECT_FALSE(table.result().all.power_watts_mean);
  EXPECT_FALSE(table.result().all.energy);
  EXPECT_EQ(table.result().all.energy_unknown, Seconds(1.0));
}

TEST(GpuCsv, HoldsAPowerUntilTheNextRow) {
  const GpuTable table =
      csv_of({row(0, "100"), row(1000, "200"), row(3000, "50"), row(4000, "0")}).result();
  EXPECT_EQ(table.all.energy, Joules(100.0 + 400.0 + 50.0));
  EXPECT_EQ(table.all.energy_unknown, Seconds(0.0));
}

TEST(GpuCsv, SaysHowUncertainTheEnergyOfATableIs) {
  std::vector<std::string> lines;
  for (int i = 0; i <= 20; ++i) lines.push_back(row(i * 2000, i % 3 == 0 ? "400" : "20"));
  const GpuTable table = csv_of(lines).result();
  ASSERT_TRUE(table.all.energy_uncertainty);
  // Bursts that the rows may have hit or missed.
  EXPECT_GT(table.all.energy_uncertainty->si(), 0.1 * table.all.energy->si());
  EXPECT_EQ(table.all.energy_method, Method::integrated);
  lines.clear();
  for (int i = 0; i <= 20; ++i) lines.push_back(row(i * 2000, "100"));
  EXPECT_LT(csv_of(lines).result().all.energy_uncertainty->si(), 400.0);
}

TEST(GpuCsv, SumsUpATableOfAnyLength) {
  std::vector<std::string> lines;
  for (int i = 0; i <= 3000; ++i) lines.push_back(row(i * 1000, "100"));
  EXPECT_NEAR(csv_of(lines).result().all.energy->si(), 3e5, 1e-6);
}

TEST(GpuCsv, WeighsAPartialRowByItsLength) {
  const GpuTable table =
      csv_of({row(0, "100", 0), row(1000, "100", 0), row(2000, "100", 0), row(2005, "300", 100)})
          .result();
  EXPECT_NEAR(*table.all.gpu_util_mean_pct, 100.0 * 5 / 3005, 1e-9);
}

TEST(GpuCsv, TakesAnyNumberThatStandsInATable) {
  const GpuTable table = csv_of({"timestamp, power.draw", "0001/01/01 00:00:00.000, 999999999999",
                                 "9999/12/31 23:59:59.999, 999999999999"})
                             .result();
  EXPECT_GT(table.all.energy_unknown, Seconds(1e9)) << "nobody writes a row so seldom";
}

TEST(GpuCsv, DoesNotHoldAPowerOverAPause) {
  const GpuTable table = csv_of({row(0, "100"), row(1000, "100"), row(2000, "100"),
                                 row(602'000, "100"), row(603'000, "100")})
                             .result();
  EXPECT_EQ(table.all.energy, Joules(300.0));
  EXPECT_EQ(table.all.energy_unknown, Seconds(600.0));
}

TEST(GpuCsv, GoesOnWhenTheClockIsSetBack) {
  const GpuTable table =
      csv_of({row(5000, "100"), row(6000, "100"), row(1000, "100"), row(2000, "100")}).result();
  EXPECT_EQ(table.all.energy, Joules(200.0));
}

TEST(GpuCsv, DistinguishesGpusByTheirPlaceAmongRowsOfOneTime) {
  const GpuTable table = csv_of({row(0, "100"), row(0, "300"), row(1000, "bad"), row(1000, "300"),
                                 row(2000, "100"), row(2000, "300")})
                             .result();
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_EQ(table.gpus[0].power_watts_max, 100.0);
  EXPECT_EQ(table.gpus[1].power_watts_mean, 300.0);
  EXPECT_EQ(table.gpus[1].energy, Joules(600.0));
}

TEST(GpuCsv, CountsAShortFirstStretchNotAsThePace) {
  std::vector<std::string> lines = {row(0, "100"), row(5, "100")};
  for (int i = 1; i <= 500; ++i) lines.push_back(row(i * 100, "100"));
  const GpuTable table = csv_of(lines).result();
  EXPECT_EQ(table.all.energy, Joules(5000.0));
  EXPECT_EQ(table.all.energy_unknown, Seconds(0.0));
}

TEST(GpuCsv, GoesOnAtAnotherPace) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) lines.push_back(row(i * 10, "100"));
  for (int i = 0; i < 100; ++i) lines.push_back(row(2000 + i * 1000, "100"));
  const GpuTable table = csv_of(lines).result();
  EXPECT_LE(table.all.energy_unknown, Seconds(10.0)) << "until it is seen that it is one";
  EXPECT_GE(table.all.energy.value(), Joules(9000.0));
}

void expect_told_apart(const std::vector<std::string>& lines, std::size_t gpus) {
  const GpuTable table = csv_of(lines).result();
  EXPECT_THAT(table.problem, IsEmpty());
  ASSERT_THAT(table.gpus, SizeIs(gpus));
  for (std::size_t i = 0; i < gpus; ++i) {
    EXPECT_EQ(table.gpus[i].power_watts_max, 100.0 * static_cast<double>(i + 1));
    EXPECT_NEAR(table.gpus[i].energy.value().si(), 9900.0 * static_cast<double>(i + 1), 10.0);
    EXPECT_EQ(table.gpus[i].gpu_util_mean_pct, static_cast<double>(i));
  }
}

TEST(GpuCsv, DistinguishesGpusWhereSomeRowsOfAMomentHaveALaterTime) {
  expect_told_apart(rounds_of(8, [](int i, int gpu) { return i % 7 < 2 && gpu >= i % 8 ? 1 : 0; }),
                    8);
}

TEST(GpuCsv, DistinguishesGpusWhereEachRowHasATimeOfItsOwn) {
  expect_told_apart(rounds_of(4, [](int /*i*/, int gpu) { return 2 * gpu; }), 4);
  expect_told_apart(rounds_of(2, [](int i, int gpu) { return gpu * (1 + i % 4); }), 2);
}

TEST(GpuCsv, FindsTheFirstOfARoundHoweverUnevenThePausesAre) {
  // As a busy machine writes them: one stamp for each round, and the next 40 to 140 ms later.
  std::vector<std::string> lines;
  int time_ms = 0;
  for (int i = 0; i < 60; ++i) {
    for (const char* power : {"100", "200"}) lines.push_back(row(time_ms, power));
    time_ms += 40 + (i * i * 7919) % 101;
  }
  const GpuTable table = csv_of(lines).result();
  EXPECT_THAT(table.problem, IsEmpty());
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_EQ(table.gpus[0].power_watts_mean, 100.0);
  EXPECT_EQ(table.gpus[1].power_watts_mean, 200.0);
}

TEST(GpuCsv, DistinguishesGpusWhereAMomentWasHeldUpInTheMiddle) {
  expect_told_apart(rounds_of(8, [](int i, int gpu) { return i % 20 == 9 && gpu >= 3 ? 400 : 0; }),
                    8);
}

TEST(GpuCsv, LosesNothingButTheMomentThatLacksARow) {
  std::vector<std::string> lines = rounds_of(8, [](int /*i*/, int gpu) { return gpu / 3; });
  lines.erase(lines.begin() + 8 * 50 + 4);
  const GpuCsv table = csv_of(lines);
  EXPECT_EQ(table.bad_rows(), 0U);
  EXPECT_EQ(table.rows(), 8U * 100U - 1U);
  EXPECT_EQ(table.result().unassigned_rows, 7U);
  expect_told_apart(lines, 8);
}

TEST(GpuCsv, NamesTheEvidenceForWhichRowsAreOfOneGpu) {
  EXPECT_EQ(csv_of({"timestamp, uuid, index, power.draw [W]"}).result().gpus_by, "uuid");
  EXPECT_EQ(csv_of({"timestamp, pci.bus_id, power.draw [W]"}).result().gpus_by, "pci.bus_id");
  EXPECT_EQ(csv_of({"timestamp, index, power.draw [W]"}).result().gpus_by, "index");
  EXPECT_EQ(csv_of({}).result().gpus_by, "order of rows");
  GpuCsv counted;
  counted.expect_gpus({.count = 2});
  counted.end();
  EXPECT_EQ(counted.result().gpus_by, "order of rows, --gpus-in-file");
}

TEST(GpuCsv, CountsTheMomentThatWasNotWrittenToItsEnd) {
  std::vector<std::string> lines = rounds_of(8, [](int /*i*/, int gpu) { return gpu / 3; });
  lines.resize(lines.size() - 3);
  EXPECT_EQ(csv_of(lines).bad_rows(), 0U);
  EXPECT_EQ(csv_of(lines).result().gpus[4].power_watts_max, 500.0);
}

TEST(GpuCsv, DistinguishesGpusInLogsOfAnyLength) {
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) {
    for (int gpu = 0; gpu < 8; ++gpu) {
      lines.push_back(row(i * 100 + (i % 3 == 0 ? gpu / 2 : 0), std::to_string(100 * (gpu + 1))));
    }
  }
  const GpuTable table = csv_of(lines).result();
  ASSERT_THAT(table.gpus, SizeIs(8));
  EXPECT_NEAR(table.gpus[7].energy.value().si(), 800.0 * 299.9, 3.0);
}

TEST(GpuCsv, SaysWhereItCannotDistinguishGpus) {
  std::vector<std::string> lines;
  int ms = 0;
  std::uint64_t noise = 1;
  for (int i = 0; i < 400; ++i) {
    lines.push_back(row(ms, "100"));
    noise = noise * 6364136223846793005U + 1442695040888963407U;
    ms += (noise >> 33U) % 3 == 0 ? 40 : 0;
  }
  const GpuTable mixed = csv_of(lines).result();
  EXPECT_THAT(mixed.problem, HasSubstr("which GPU a row is of is unknown"));
  EXPECT_THAT(mixed.problem, HasSubstr("--gpus-in-file N"));
  EXPECT_THAT(mixed.gpus, IsEmpty());
  EXPECT_FALSE(mixed.all.energy);
  EXPECT_EQ(mixed.all.power_watts_mean, 100.0);

  EXPECT_THAT(csv_of({"utilization.gpu [%]", "50 %", "60 %"}).result().problem,
              HasSubstr("unknown"));
}

TEST(GpuCsv, TakesOneGpuWhoseReaderWasHeldUpForOne) {
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) lines.push_back(row(i * 40 + (i > 200 ? 3000 : 0), "100"));
  EXPECT_THAT(csv_of(lines).result().gpus, SizeIs(1));
}

TEST(GpuCsv, TakesOneGpuWithJitterForOne) {
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) lines.push_back(row(i * 1000 + i * 37 % 400, "100"));
  EXPECT_THAT(csv_of(lines).result().problem, IsEmpty());
}

TEST(GpuCsv, ReadsColumnsByTheirHeader) {
  const GpuTable table = csv_of({"uuid, power.draw.average [W], power.draw.instant [W], "
                                 "clocks.sm [MHz], timestamp",
                                 "GPU-1, 100.0 W, 7.0 W, 5 MHz, 2026/11/21 01:50:09.123",
                                 "GPU-1, 120.0 W, 7.0 W, 5 MHz, 2026/11/21 01:50:10.123"})
                             .result();
  ASSERT_THAT(table.gpus, SizeIs(1));
  EXPECT_EQ(table.gpus[0].name, "GPU-1");
  EXPECT_EQ(table.all.power_watts_mean, 110.0);
  EXPECT_EQ(table.all.energy, Joules(100.0));
  EXPECT_FALSE(table.all.gpu_util_mean_pct);
}

TEST(GpuCsv, SplitsAtCommasWhereverTheyStand) {
  for (std::size_t before = 0; before < 20; ++before) {
    for (std::size_t after = 0; after < 20; ++after) {
      GpuCsv table;
      table.take("name,utilization.gpu,note,index");
      table.take("N" + std::string(before, '-') + ",42," + std::string(after, 'x') + ",7");
      table.end();
      ASSERT_EQ(table.rows(), 1U);
      EXPECT_EQ(table.result().all.gpu_util_max_pct, 42.0);
      EXPECT_EQ(table.result().gpus[0].name, "7");
    }
  }
}

TEST(GpuCsv, LeavesOutARowOfMoreColumnsThanThereCanBe) {
  const GpuCsv table = csv_of({std::string(1000, ','), std::string(63, ','), row(0, "100")});
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.bad_rows(), 2U);
}

TEST(GpuCsv, HasNoRoomForMoreGpusThanThereAre) {
  GpuCsv table;
  table.take("index, utilization.gpu");
  for (int i = 0; i < 3000; ++i) table.take(std::to_string(i) + ", 50");
  table.end();
  EXPECT_EQ(table.rows(), kMostGpus);
  EXPECT_EQ(table.bad_rows(), 3000 - kMostGpus);
}

TEST(GpuCsv, HasNoGpuForSeveralOfOneSerialNumber) {
  // Of a board without one, and of a card with two GPUs.
  for (const std::string serial : {"0", "0324914053188"}) {
    GpuCsv table;
    table.take("timestamp, index, serial, power.draw [W]");
    for (int i = 0; i < 20; ++i) {
      table.take(fmt::format("2026/03/02 09:15:{:02}.000, 0, {}, 300.0", i, serial));
      table.take(fmt::format("2026/03/02 09:15:{:02}.005, 1, {}, 100.0", i, serial));
    }
    table.end();
    const GpuTable result = table.result();
    ASSERT_THAT(result.gpus, testing::SizeIs(2)) << serial;
    EXPECT_EQ(result.gpus[0].energy, Joules(19.0 * 300.0)) << serial;
    EXPECT_EQ(result.gpus[1].energy, Joules(19.0 * 100.0)) << serial;
    EXPECT_EQ(result.all.energy_unknown, Seconds(0.0)) << serial;
  }
}

}  // namespace
}  // namespace wattle
