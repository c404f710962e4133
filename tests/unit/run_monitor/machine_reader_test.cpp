#include "run_monitor/machine_reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

CpuTimes times(std::uint64_t user, std::uint64_t system, std::uint64_t idle, std::uint64_t iowait,
               std::uint64_t irq, std::uint64_t steal) {
  return {
      .user = user, .system = system, .idle = idle, .iowait = iowait, .irq = irq, .steal = steal};
}

double sum(const CpuShares& shares) {
  return shares.user + shares.system + shares.idle + shares.iowait + shares.irq + shares.steal;
}

TEST(CpuShares, AddUpToTheWhole) {
  const auto shares = cpu_shares(times(10, 20, 30, 40, 50, 60), times(14, 31, 38, 64, 53, 67));
  ASSERT_TRUE(shares);
  EXPECT_NEAR(shares->user, 100.0 * 4 / 57, 1e-9);
  EXPECT_NEAR(shares->system, 100.0 * 11 / 57, 1e-9);
  EXPECT_NEAR(shares->idle, 100.0 * 8 / 57, 1e-9);
  EXPECT_NEAR(shares->iowait, 100.0 * 24 / 57, 1e-9);
  EXPECT_NEAR(shares->irq, 100.0 * 3 / 57, 1e-9);
  EXPECT_NEAR(shares->steal, 100.0 * 7 / 57, 1e-9);
  EXPECT_NEAR(sum(*shares), 100.0, 1e-9);
}

TEST(CpuShares, DoNotCountGuestsTwice) {
  // All of user's time went to a guest, which the kernel shows in two fields.
  const auto begin = parse_cpu_times("cpu 100 0 0 100 0 0 0 0 100 0\n");
  const auto end = parse_cpu_times("cpu 150 0 0 150 0 0 0 0 150 0\n");
  const auto shares = cpu_shares(begin.value(), end.value());
  EXPECT_EQ(shares->user, 50.0);
  EXPECT_EQ(shares->idle, 50.0);
}

TEST(CpuShares, BearAWaitingTimeThatFalls) {
  const auto shares = cpu_shares(times(0, 0, 0, 100, 0, 0), times(50, 0, 50, 90, 0, 0));
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->user, 50.0);
  EXPECT_EQ(shares->iowait, 0.0);
  EXPECT_NEAR(sum(*shares), 100.0, 1e-9);
}

TEST(CpuShares, AreUnknownWhereNoTickPassed) {
  EXPECT_FALSE(cpu_shares(times(1, 2, 3, 4, 5, 6), times(1, 2, 3, 4, 5, 6)));
  EXPECT_FALSE(cpu_shares(times(1, 2, 3, 4, 5, 6), times(0, 0, 0, 0, 0, 0)));
}

class MachineReaderTest : public testing::Test {
 protected:
  MachineReaderTest() {
    system_.procfs = folder_.path() / "proc";
    system_.sysfs = folder_.path() / "sys";
  }
  void is_device(const char* path) const {
    std::filesystem::create_directories(system_.sysfs / path / "device");
  }

  fakes::TempFolder folder_;
  System system_;
};

TEST_F(MachineReaderTest, ReadsAllThatThereIs) {
  folder_.write("proc/stat", "cpu 1 2 3 4 5 6 7 8 9 10\ncpu0 1\nintr 0\n");
  folder_.write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
  folder_.write("proc/pressure/cpu", "some avg10=0.00 total=1000000\n");
  folder_.write("proc/pressure/memory", "some total=2000000\nfull total=3000000\n");
  folder_.write("proc/pressure/io", "some total=4000000\nfull total=5000000\n");
  folder_.write("proc/diskstats", "8 0 sda 1 0 10 0 1 0 20 0\n8 1 sda1 1 0 10 0 1 0 20 0\n");
  folder_.write("proc/net/dev", "lo: 1 0 0 0 0 0 0 0 1\neth0: 30 0 0 0 0 0 0 0 40\n");
  is_device("block/sda");
  is_device("class/net/eth0");
  const MachineState state = MachineReader(system_).read();
  EXPECT_EQ(state.cpu->user, 3U);
  EXPECT_EQ(state.memory->used_bytes, 600U * 1024);
  EXPECT_EQ(state.cpu_pressure->some_s, 1.0);
  EXPECT_EQ(state.memory_pressure->full_s, 3.0);
  EXPECT_EQ(state.io_pressure->full_s, 5.0);
  EXPECT_EQ(state.disk->in, 5120U) << "a part of a disk is not counted again";
  EXPECT_EQ(state.disk->out, 10240U);
  EXPECT_EQ(state.network->in, 30U);
  EXPECT_EQ(state.network->out, 40U);
}

TEST_F(MachineReaderTest, LeavesBridgesOutWhereThereAreDevices) {
  folder_.write("proc/net/dev",
                "eth0: 30 0 0 0 0 0 0 0 40\ndocker0: 30 0 0 0 0 0 0 0 40\nlo: 1 0 0 0 0 0 0 0 1\n");
  is_device("class/net/eth0");
  EXPECT_EQ(MachineReader(system_).read().network->in, 30U);
}

TEST_F(MachineReaderTest, CountsWhatThereIsInAContainer) {
  folder_.write("proc/net/dev", "eth0: 30 0 0 0 0 0 0 0 40\nlo: 1 0 0 0 0 0 0 0 1\n");
  EXPECT_EQ(MachineReader(system_).read().network->in, 30U);
}

TEST_F(MachineReaderTest, ReadsAFileOfThousandsOfInterfaces) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "eth" + std::to_string(i) + ": 1 0 0 0 0 0 0 0 2\n";
  folder_.write("proc/net/dev", text);
  MachineReader reader(system_);
  EXPECT_EQ(reader.read().network->in, 5000U);
  EXPECT_EQ(reader.read().network->out, 10000U);
}

TEST_F(MachineReaderTest, KnowsNothingWithoutFiles) {
  const MachineState state = MachineReader(system_).read();
  EXPECT_FALSE(state.cpu || state.memory || state.cpu_pressure || state.memory_pressure ||
               state.io_pressure || state.disk || state.network);
}

TEST_F(MachineReaderTest, KnowsNothingFromGarbage) {
  for (const char* file : {"stat", "meminfo", "pressure/cpu", "diskstats", "net/dev"}) {
    folder_.write(std::filesystem::path("proc") / file, "\xff\n:\n: x\n\n1 2 3\n");
  }
  const MachineState state = MachineReader(system_).read();
  EXPECT_FALSE(state.cpu || state.memory || state.cpu_pressure || state.disk || state.network);
}

}  // namespace
}  // namespace wattle
