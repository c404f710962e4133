// How large a machine is, from its files.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "estimate/machine_power.hpp"
#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

/// Two packages of `cores` cores with so many threads each.
std::string cpuinfo(int cores, int threads) {
  std::string text;
  int processor = 0;
  for (int thread = 0; thread < threads; ++thread) {
    for (int package = 0; package < 2; ++package) {
      for (int core = 0; core < cores; ++core) {
        text += "processor\t: " + std::to_string(processor++) +
                "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 7\n"
                "physical id\t: " +
                std::to_string(package) + "\ncore id\t\t: " + std::to_string(core) +
                "\nflags\t\t: fpu\n\n";
      }
    }
  }
  return text;
}

/// A core of Graviton 3: the file names no hypervisor on Arm.
const char* arm_cpuinfo() { return "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd40\n"; }

class MachineSizeTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    folder_.write(path.c_str(), text);
  }
  void remove_tree(const std::string& path) const {
    std::filesystem::remove_all(folder_.path() / path);
  }
  [[nodiscard]] System system() const {
    return {.sysfs = folder_.path() / "sys", .procfs = folder_.path() / "proc"};
  }
  [[nodiscard]] MachineSize read(MachineExtent extent = MachineExtent::server) const {
    return read_machine_size(system(), read_processors(system()), read_product(system()), extent);
  }
  fakes::TempFolder folder_;
};

TEST_F(MachineSizeTest, IsThatOfCpuinfo) {
  write("proc/cpuinfo", cpuinfo(24, 2));
  write("proc/meminfo", "MemTotal:       97656250 kB\nMemAvailable:   90000000 kB\n");
  const MachineSize size = read();
  EXPECT_EQ(size.threads, 96U);
  EXPECT_EQ(size.cores, 48U);
  EXPECT_EQ(size.packages, 2U);
  EXPECT_DOUBLE_EQ(size.memory_gb, 100.0);
  EXPECT_FALSE(size.is_virtual);
  EXPECT_TRUE(read(MachineExtent::guest).is_virtual);
  EXPECT_TRUE(size.sleeps) << "nothing says that it cannot";
}

TEST_F(MachineSizeTest, CountsCoresWithSmtOff) {
  write("proc/cpuinfo", cpuinfo(24, 1));
  EXPECT_EQ(read().threads, 48U);
  EXPECT_EQ(read().cores, 48U);
}

TEST_F(MachineSizeTest, IsThatOfTheTopologyWhereCpuinfoDoesNotSay) {
  write("proc/cpuinfo",
        "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n\nprocessor : 1\n"
        "CPU implementer : 0x41\nCPU part : 0xd0c\n");
  EXPECT_EQ(read().cores, 0U);
  write("sys/devices/system/cpu/online", "0,2\n");
  for (const std::string cpu : {"cpu0", "cpu2"}) {
    write("sys/devices/system/cpu/" + cpu + "/topology/physical_package_id", "36\n");
    write("sys/devices/system/cpu/" + cpu + "/topology/core_id", cpu.substr(3) + "\n");
  }
  EXPECT_EQ(read().cores, 2U);
  EXPECT_EQ(read().packages, 1U);
}

TEST_F(MachineSizeTest, IsUnknownWhereAThreadHasNoPlace) {
  write("proc/cpuinfo", cpuinfo(2, 1) + "processor : 4\nvendor_id : GenuineIntel\n");
  EXPECT_EQ(read().threads, 5U);
  EXPECT_EQ(read().cores, 0U);
  EXPECT_EQ(read().packages, 0U);
}

TEST_F(MachineSizeTest, KnowsTypesOfInstancesWhoseVcpusAreCores) {
  write("proc/cpuinfo", "processor : 0\nvendor_id : AuthenticAMD\nflags : hypervisor\n");
  for (const auto& [product, is_core] : {std::pair{"m7a.large\n", true},
                                         {"hpc6a.48xlarge\n", true},
                                         {"m6a.large\n", false},
                                         {"m7a\n", false},
                                         {"KVM\n", false},
                                         {"\n", false}}) {
    write("sys/class/dmi/id/product_name", product);
    EXPECT_EQ(read().vcpu_is_core, is_core) << product;
  }
}

TEST_F(MachineSizeTest, SeesThatIdleCoresDoNotSleep) {
  write("proc/cpuinfo", cpuinfo(2, 1));
  const std::string cpu = "sys/devices/system/cpu/";
  write(cpu + "cpuidle/current_driver", "none\n");
  EXPECT_FALSE(read().sleeps);
  write(cpu + "cpuidle/current_driver", "intel_idle\n");
  write(cpu + "cpu0/cpuidle/state0/name", "POLL\n");
  write(cpu + "cpu0/cpuidle/state1/name", "C1E\n");
  EXPECT_FALSE(read().sleeps);
  write(cpu + "cpu0/cpuidle/state2/name", "C6\n");
  write(cpu + "cpu0/cpuidle/state2/disable", "1\n");
  EXPECT_FALSE(read().sleeps);
  write(cpu + "cpu0/cpuidle/state2/disable", "0\n");
  EXPECT_TRUE(read().sleeps);
}

TEST_F(MachineSizeTest, TakesC10ForADeepStateAndNoFormOfC1) {
  write("proc/cpuinfo", cpuinfo(2, 1));
  const std::string cpu = "sys/devices/system/cpu/";
  write(cpu + "cpuidle/current_driver", "intel_idle\n");
  for (const char* shallow : {"POLL", "C0", "C1", "C1E", "C1_ACPI", "ACPI HLT", "haltpoll idle"}) {
    write(cpu + "cpu0/cpuidle/state0/name", std::string(shallow) + "\n");
    EXPECT_FALSE(read().sleeps) << shallow;
  }
  for (const char* deep : {"C10", "C2", "C2_ACPI", "C3", "C6", "C6N", "C7s"}) {
    write(cpu + "cpu0/cpuidle/state0/name", std::string(deep) + "\n");
    EXPECT_TRUE(read().sleeps) << deep;
  }
}

TEST_F(MachineSizeTest, TakesTheFirstStateOfArmForAStoppedClock) {
  write("proc/cpuinfo", arm_cpuinfo());
  const std::string cpu = "sys/devices/system/cpu/";
  write(cpu + "cpuidle/current_driver", "acpi_idle\n");
  for (const auto& [first, second] :
       {std::pair{"WFI\n", "cpu-sleep-0\n"}, {"LPI-0\n", "LPI-1\n"}, {"LPI-0\n", "LPI-10\n"}}) {
    write(cpu + "cpu0/cpuidle/state0/name", first);
    write(cpu + "cpu0/cpuidle/state1/disable", "1\n");
    write(cpu + "cpu0/cpuidle/state1/name", second);
    EXPECT_FALSE(read().sleeps) << first;
    write(cpu + "cpu0/cpuidle/state1/disable", "0\n");
    EXPECT_TRUE(read().sleeps) << second;
  }
}

}  // namespace
}  // namespace wattle
