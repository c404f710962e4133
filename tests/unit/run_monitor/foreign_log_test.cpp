// Logs of nvidia-smi that passed through other tools and hands.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run_monitor/tables/gpu_table.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kHourS = 3600;

std::string time_of(int s) {
  return fmt::format("2026/10/25 {:02}:{:02}:{:02}.000", s / kHourS, s / 60 % 60, s % 60);
}

/// Reads a header and rows, one each second from `begin_s` on, that have the cells of `row_of(i)`.
class ForeignLog {
 public:
  template <class CellsOf>
  void add(const std::string& header, int begin_s, int rows, const CellsOf& cells_of) {
    if (!header.empty()) csv_.take(header);
    for (int i = 0; i < rows; ++i) {
      for (const std::string& cells : std::vector<std::string>(cells_of(i))) {
        csv_.take(time_of(begin_s + i) + cells);
      }
    }
  }
  [[nodiscard]] GpuTable result() {
    csv_.end();
    return csv_.result();
  }

 private:
  GpuCsv csv_;
};

using Cells = std::vector<std::string>;

TEST(ForeignLogs, HaveOneGpuForANameInSeveralSpellings) {
  const std::vector<std::vector<std::string>> names = {
      {"uuid", "GPU-AB12", "gpu-ab12"},
      {"pci.bus_id", "00000000:3B:00.0", "0000:3b:00.0"},
      {"index", "0", "00"},
      {"index", "1", "\"1\""},
      {"index", "10", "10.0"},
      {"serial", "0324914053188", "324914053188"}};
  for (const auto& name : names) {
    ForeignLog log;
    log.add("timestamp, " + name[0] + ", power.draw [W]", 0, 40,
            [&](int i) { return Cells{", " + name[i % 2 == 0 ? 1 : 2] + ", 300"}; });
    const GpuTable table = log.result();
    ASSERT_THAT(table.gpus, SizeIs(1)) << name[1];
    EXPECT_EQ(table.gpus[0].name, name[1]);
    EXPECT_EQ(table.all.energy, Joules(39.0 * 300.0)) << name[1];
  }
}

TEST(ForeignLogs, KnowAGpuByItsUuidFromALaterHeaderOn) {
  ForeignLog log;
  log.add("timestamp, index, power.draw [W]", 0, 20, [](int) {
    return Cells{", 0, 100", ", 1, 200"};
  });
  log.add("timestamp, index, uuid, power.draw [W]", 20, 20, [](int) {
    return Cells{", 0, GPU-a, 100", ", 1, GPU-b, 200"};
  });
  const GpuTable table = log.result();
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_EQ(table.gpus[1].energy, Joules(39.0 * 200.0));
  EXPECT_EQ(table.all.energy_unknown, Seconds(0.0));
}

TEST(ForeignLogs, HaveNoFiguresWhereALaterHeaderNamesNoGpus) {
  ForeignLog log;
  log.add("timestamp, index, power.draw [W]", 0, 20, [](int) {
    return Cells{", 1, 200", ", 0, 100"};
  });
  log.add("timestamp, power.draw [W]", 20, 20, [](int) { return Cells{", 100", ", 200"}; });
  const GpuTable table = log.result();
  EXPECT_THAT(table.gpus, IsEmpty());
  EXPECT_FALSE(table.all.energy);
  EXPECT_THAT(table.problem, HasSubstr("some rows name their GPU and others do not"));
}

TEST(ForeignLogs, HaveNoFiguresWhereTablesOfOneTimeFollowEachOther) {
  for (const std::string header :
       {"timestamp, index, power.draw [W]", "timestamp, uuid, power.draw [W]",
        "timestamp, name, power.draw [W]"}) {
    // Of two machines, the second started 2 s later; or the rows of one GPU after another's.
    ForeignLog log;
    log.add(header, 0, 40, [](int) { return Cells{", 7, 300"}; });
    log.add(header, 2, 40, [](int) { return Cells{", 7, 100"}; });
    const GpuTable table = log.result();
    EXPECT_FALSE(table.all.energy) << header;
    EXPECT_THAT(table.problem, HasSubstr("start again at the time of the first ones")) << header;
  }
}

TEST(ForeignLogs, MayBeOfTheHourThatComesTwice) {
  ForeignLog log;
  log.add("timestamp, index, power.draw [W]", 3 * kHourS - 60, 60,
          [](int) { return Cells{", 0, 300"}; });
  log.add("", 2 * kHourS, kHourS, [](int) { return Cells{", 0, 300"}; });
  const GpuTable table = log.result();
  EXPECT_THAT(table.problem, IsEmpty());
  EXPECT_EQ(table.all.energy, Joules((59.0 + kHourS - 1.0) * 300.0));
  EXPECT_EQ(table.all.energy_unknown, Seconds(1.0))
      << "from the last row before to the first after";
}

TEST(ForeignLogs, MayBeOfAClockThatIsCorrected) {
  ForeignLog log;
  log.add("timestamp, index, power.draw [W]", 100, 200, [](int) { return Cells{", 0, 300"}; });
  log.add("", 290, 200, [](int) { return Cells{", 0, 300"}; });
  const GpuTable table = log.result();
  EXPECT_THAT(table.problem, IsEmpty());
  EXPECT_EQ(table.all.energy, Joules(398.0 * 300.0));
}

TEST(ForeignLogs, HaveNoPowerWhereTheDriverHadNone) {
  ForeignLog log;
  log.add("timestamp, index, power.draw [W]", 0, 40,
          [](int i) { return Cells{i == 10 ? ", 0, 4294967.29" : ", 0, 300"}; });
  const GpuTable table = log.result();
  EXPECT_EQ(table.all.power_watts_max, 300.0);
  EXPECT_EQ(table.all.energy, Joules(38.0 * 300.0));
  EXPECT_EQ(table.all.energy_unknown, Seconds(1.0));
}

TEST(ForeignLogs, DistinguishMachinesByTheirColumn) {
  ForeignLog log;
  log.add("timestamp, hostname, index, power.draw [W]", 0, 40, [](int) {
    return Cells{", a, 0, 300", ", b, 0, 100"};
  });
  const GpuTable table = log.result();
  ASSERT_THAT(table.gpus, SizeIs(2));
  EXPECT_EQ(table.gpus[0].name, "a:0");
  EXPECT_EQ(table.gpus[0].energy, Joules(39.0 * 300.0));
  EXPECT_EQ(table.gpus[1].name, "b:0");
  EXPECT_EQ(table.gpus[1].energy, Joules(39.0 * 100.0));
}

}  // namespace
}  // namespace wattle
