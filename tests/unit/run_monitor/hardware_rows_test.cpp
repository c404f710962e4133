#include "run_monitor/hardware_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace wattle {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const GpuValues kBusy{.utilization_percent = 60.0,
                      .memory_utilization_percent = 13.0,
                      .memory_used_bytes = 8500.9 * 1048576,
                      .memory_total_bytes = 81559.0 * 1048576,
                      .power_w = 123.456,
                      .temperature_celsius = 45.0,
                      .clock_sm_hz = 1410e6,
                      .clock_memory_hz = 1593e6};

TEST(GpuRow, HasNineColumnsAsNvidiaSmiWritesThem) {
  std::string row;
  append_gpu_row(row, "2026/11/21 01:50:09.123", kBusy);
  EXPECT_EQ(row, "2026/11/21 01:50:09.123, 60, 13, 8500, 81559, 123.46, 45, 1410, 1593\n");
}

TEST(GpuRow, SaysWhatIsNotKnown) {
  std::string row;
  append_gpu_row(row, "T", {.utilization_percent = 60.0});
  EXPECT_EQ(row, "T, 60, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n");
}

TEST(DmonRow, HasTheColumnsOfTheHeader) {
  std::string text = dmon_file().header;
  append_dmon_row(text, 7, kBusy);
  append_dmon_row(text, 10, {});
  EXPECT_EQ(text,
            "# gpu     sm    mem     fb\n"
            "# Idx      %      %     MB\n"
            "    7     60     13   8500\n"
            "   10      -      -      -\n");
}

TEST(CpuRow, HasOneDecimal) {
  std::string row;
  append_cpu_row(row, "2026-11-21T01:50:09.123+00:00", {.user = 12.34, .idle = 87.66});
  EXPECT_EQ(row, "2026-11-21T01:50:09.123+00:00,12.3,87.7\n");
}

TEST(SampleRows, HaveAUnitInTheNameOfTheQuantity) {
  SampleRows rows;
  rows.begin("T");
  rows.add(device_cells("nvidia_gpu_1", 1, "GPU-1"), kBusy);
  EXPECT_THAT(rows.text(), HasSubstr("T,nvidia_gpu_1,1,GPU-1,utilization_percent,60\n"));
  EXPECT_THAT(rows.text(), HasSubstr("T,nvidia_gpu_1,1,GPU-1,power_w,123.456\n"));
  EXPECT_THAT(rows.text(), HasSubstr("T,nvidia_gpu_1,1,GPU-1,clock_sm_hz,1410000000\n"));
  EXPECT_THAT(rows.text(), HasSubstr("T,nvidia_gpu_1,1,GPU-1,memory_total_bytes,85520809984\n"));
}

TEST(SampleRows, AreNotThereForWhatIsNotKnown) {
  SampleRows rows;
  rows.begin("T");
  rows.add("d,,,", GpuValues{});
  rows.add("d,,,", "x", std::nullopt);
  rows.add("d,,,", "x", std::numeric_limits<double>::quiet_NaN());
  rows.add("d,,,", "x", std::numeric_limits<double>::infinity());
  rows.add(MachineState{});
  EXPECT_THAT(rows.text(), IsEmpty());
}

TEST(SampleRows, DescribeTheMachine) {
  SampleRows rows;
  rows.begin("T");
  rows.add(CpuShares{.user = 50.0, .idle = 49.5, .steal = 0.5});
  rows.add(MachineState{.cpu = {},
                        .memory = MemoryState{.total_bytes = 100, .used_bytes = 60},
                        .cpu_pressure = Pressure{.some_s = 1.5, .full_s = 0.0},
                        .memory_pressure = Pressure{.some_s = 2.5, .full_s = 2.0},
                        .io_pressure = Pressure{.some_s = 3.5},
                        .disk = ByteTotals{.in = 1, .out = 2},
                        .network = ByteTotals{.in = 3, .out = 4}});
  EXPECT_EQ(rows.text(),
            "T,cpu,,,user_percent,50\n"
            "T,cpu,,,system_percent,0\n"
            "T,cpu,,,idle_percent,49.5\n"
            "T,cpu,,,iowait_percent,0\n"
            "T,cpu,,,irq_percent,0\n"
            "T,cpu,,,steal_percent,0.5\n"
            "T,memory,,,used_bytes,60\n"
            "T,memory,,,total_bytes,100\n"
            "T,cpu,,,pressure_some_s,1.5\n"
            "T,memory,,,pressure_some_s,2.5\n"
            "T,memory,,,pressure_full_s,2\n"
            "T,io,,,pressure_some_s,3.5\n"
            "T,disk,,,read_bytes,1\n"
            "T,disk,,,written_bytes,2\n"
            "T,network,,,received_bytes,3\n"
            "T,network,,,sent_bytes,4\n");
}

TEST(SampleRows, KeepLargeAndSmallNumbers) {
  SampleRows rows;
  rows.begin("T");
  rows.add("d,,,", "x", 0x1p60);
  EXPECT_THAT(rows.text(), EndsWith(",x,1.152921504606847e+18\n"));
  rows.begin("T");
  rows.add("d,,,", "x", 1e-7);
  EXPECT_THAT(rows.text(), EndsWith(",x,1e-07\n"));
}

TEST(SampleRows, KeepTheirColumnsWhateverAUuidSays) {
  EXPECT_EQ(device_cells("d", 0, "a,b\n\"c"), "d,0,a;b\\x0a'c,");
  EXPECT_THAT(device_cells("d", std::nullopt, ""), "d,,,");
}

}  // namespace
}  // namespace wattle
