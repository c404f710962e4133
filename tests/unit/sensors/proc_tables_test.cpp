#include "sensors/proc_tables.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace wattle {
namespace {

constexpr std::string_view kStat =
    "cpu  1000 200 300 5000 400 50 60 70 500 100\n"
    "cpu0 500 100 150 2500 200 25 30 35 250 50\n"
    "cpu1 500 100 150 2500 200 25 30 35 250 50\n"
    "intr 634866 0 0\n"
    "ctxt 1038003\n";

TEST(CpuTimes, SumsWhatProcessorsDid) {
  const auto times = parse_cpu_times(kStat);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, 1000U + 200 + 300 + 50 + 60) << "neither idle nor waiting nor stolen";
  EXPECT_EQ(times->total, 1000U + 200 + 300 + 5000 + 400 + 50 + 60 + 70);
  EXPECT_EQ(times->processors, 2U);
}

TEST(CpuTimes, CountGuestsOnce) {
  // 500 and 100 of the line above are in user and nice already.
  const auto without = parse_cpu_times("cpu  1000 200 300 5000 400 50 60 70 0 0\nintr 0\n");
  EXPECT_EQ(parse_cpu_times(kStat)->busy, without->busy);
  EXPECT_EQ(parse_cpu_times(kStat)->total, without->total);
}

TEST(CpuTimes, AreEachInOneOfSixShares) {
  const auto times = parse_cpu_times(kStat);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->user, 1000U + 200);
  EXPECT_EQ(times->system, 300U);
  EXPECT_EQ(times->idle, 5000U);
  EXPECT_EQ(times->iowait, 400U);
  EXPECT_EQ(times->irq, 50U + 60);
  EXPECT_EQ(times->steal, 70U);
}

TEST(CpuTimes, OfOldKernelsHaveFewerFields) {
  const auto times = parse_cpu_times("cpu  10 20 30 40\ncpu0 10 20 30 40\nintr 0\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, 60U);
  EXPECT_EQ(times->total, 100U);
}

TEST(CpuTimes, CountProcessorsWithGapsInTheirNumbers) {
  EXPECT_EQ(parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu7 1\ncpu113 1\nintr 0\n")->processors, 3U);
}

TEST(CpuTimes, DoNotCountProcessorsInATextThatIsCutOff) {
  const auto times = parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu1 1\ncpu");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->processors, 0U) << "there may be more of them";
  EXPECT_EQ(parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu1 1\n")->processors, 0U);
  EXPECT_EQ(parse_cpu_times("cpu 1 1 1 1\ncpu0 1\ncpu1 1\nin")->processors, 2U) << "all seen";
}

TEST(CpuTimes, AreAbsentInGarbage) {
  for (const char* text : {"", "\n", "cpu", "cpu \n", "cpu 1 2 3\n", "cpu0 1 2 3 4\n",
                           "cpu a b c d\n", "cpu 1 2 3 -4\n", "cpu 1 2 3 99999999999999999999\n",
                           "cpu 1 2 3 4 x\n", "intr 1 2 3 4\ncpu 1 2 3 4\n"}) {
    EXPECT_FALSE(parse_cpu_times(text)) << text;
  }
}

TEST(CpuTimes, SumOfGarbageDoesNotWrapAround) {
  const auto times = parse_cpu_times("cpu 18446744073709551615 18446744073709551615 1 1\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(times->total, std::numeric_limits<std::uint64_t>::max());
}

TEST(MemoryState, IsTotalMinusWhatCouldBeHad) {
  const auto memory = parse_memory(
      "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:   12000000 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 16'000'000ULL * 1024);
  EXPECT_EQ(memory->used_bytes, 4'000'000ULL * 1024);
}

TEST(MemoryState, IsNeverNegative) {
  EXPECT_EQ(parse_memory("MemTotal: 10 kB\nMemAvailable: 11 kB\n")->used_bytes, 0U);
}

TEST(MemoryState, IsAbsentWhereAPartIsMissing) {
  for (const char* text :
       {"", "MemTotal: 10 kB\n", "MemAvailable: 10 kB\n", "MemTotal: 10 kB\nMemFree: 5 kB\n",
        "MemTotal: x kB\nMemAvailable: 1 kB\n", "MemTotal:\nMemAvailable: 1 kB\n",
        "MemTotal: -1 kB\nMemAvailable: 1 kB\n",
        "MemTotal: 18446744073709551615 kB\nMemAvailable: 1 kB\n"}) {
    EXPECT_FALSE(parse_memory(text)) << text;
  }
}

TEST(MappedMemory, IsOfAllProcesses) {
  const auto memory = parse_mapped_memory(
      "MemTotal: 16000000 kB\nActive(anon): 7 kB\nAnonPages:  300 kB\nMapped: 40 kB\nShmem: 1 "
      "kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->anonymous_bytes, 300U * 1024);
  EXPECT_EQ(memory->file_bytes, 40U * 1024);
  EXPECT_EQ(memory->machine_bytes, 16'000'000U * std::uint64_t{1024});
}

TEST(MappedMemory, IsAtMostThatOfTheMachineWhereTheKernelDoesNotSay) {
  const auto memory = parse_mapped_memory("MemTotal: 1000 kB\nMapped: 40 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->anonymous_bytes, 1000U * 1024);
  EXPECT_EQ(memory->file_bytes, 1000U * 1024);
  EXPECT_EQ(memory->machine_bytes, 1000U * 1024);
  EXPECT_FALSE(parse_mapped_memory("AnonPages: x kB\nMapped: 40 kB\n"));
}

TEST(Pressure, IsTheTotalTimeOfBothLines) {
  const auto pressure = parse_pressure(
      "some avg10=0.00 avg60=0.12 avg300=0.05 total=2500000\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=1250000\n");
  ASSERT_TRUE(pressure);
  EXPECT_DOUBLE_EQ(pressure->some_s, 2.5);
  EXPECT_EQ(pressure->full_s, 1.25);
}

TEST(Pressure, OfOldKernelsHasOneLineForProcessors) {
  const auto pressure = parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
  ASSERT_TRUE(pressure);
  EXPECT_FALSE(pressure->full_s);
}

TEST(Pressure, IsAbsentInGarbage) {
  for (const char* text : {"", "some\n", "some total=\n", "some total=x\n", "full total=1\n",
                           "some avg10=0.00 total=-1\n"}) {
    EXPECT_FALSE(parse_pressure(text)) << text;
  }
}

bool any(std::string_view) { return true; }

TEST(DiskTotals, AddTheDisksThatCount) {
  constexpr std::string_view kText =
      "   8       0 sda 10 1 100 5 20 2 200 9 0 4 14 0 0 0 0 3 1\n"
      "   8       1 sda1 9 1 100 5 20 2 200 9 0 4 14 0 0 0 0 3 1\n"
      " 259       0 nvme0n1 10 1 1000 5 20 2 2000 9 0 4 14\n";
  const auto totals =
      parse_disk_totals(kText, [](std::string_view name) { return name != "sda1"; });
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->in, 1100U * 512);
  EXPECT_EQ(totals->out, 2200U * 512);
}

TEST(DiskTotals, AreAbsentWhereNoDiskCounts) {
  EXPECT_FALSE(parse_disk_totals("", any));
  EXPECT_FALSE(parse_disk_totals("8 0 sda 1 2 3\n", any)) << "cut off";
  EXPECT_FALSE(parse_disk_totals("8 0 sda a b c d e f g h\n", any));
  EXPECT_FALSE(parse_disk_totals("8 0 sda 1 1 1 1 1 1 1\n", [](auto) { return false; }));
}

constexpr std::string_view kNetDev =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop\n"
    "    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0\n"
    "  eth0: 1000 9 0 0 0 0 0 0 2000 9 0 0 0 0 0 0\n"
    "eth1:10 9 0 0 0 0 0 0 20 9 0 0 0 0 0 0\n";

TEST(NetworkTotals, AddTheInterfacesThatCount) {
  const auto totals =
      parse_network_totals(kNetDev, [](std::string_view name) { return name != "lo"; });
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->in, 1010U);
  EXPECT_EQ(totals->out, 2020U);
}

TEST(NetworkTotals, AreAbsentWhereNoInterfaceCounts) {
  EXPECT_FALSE(parse_network_totals("", any));
  EXPECT_FALSE(parse_network_totals(kNetDev, [](auto) { return false; }));
  EXPECT_FALSE(parse_network_totals("eth0: 1 2 3\n", any)) << "cut off";
}

}  // namespace
}  // namespace wattle
