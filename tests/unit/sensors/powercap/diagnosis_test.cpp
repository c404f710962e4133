#include "sensors/powercap/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "sensors/refusals.hpp"

namespace wattle::powercap {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kMountinfo =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "23 27 0:22 / /sys ro,relatime shared:7 - sysfs sysfs ro\n"
    "99 23 0:50 / /sys/devices/virtual/powercap ro,relatime - tmpfs tmpfs ro,size=0k\n";

TEST(MountPoint, IsFoundByItsWholePath) {
  EXPECT_TRUE(is_mount_point(kMountinfo, "/sys"));
  EXPECT_TRUE(is_mount_point(kMountinfo, "/sys/devices/virtual/powercap"));
  EXPECT_FALSE(is_mount_point(kMountinfo, "/sys/devices/virtual"));
  EXPECT_FALSE(is_mount_point(kMountinfo, "/sys/devices/virtual/powercap/intel-rapl"));
  EXPECT_FALSE(is_mount_point(kMountinfo, "/")) << "a root inside its file system, no mount point";
}

TEST(MountPoint, IsNotFoundInGarbage) {
  for (const char* text : {"", "\n\n", "1", "1 2 3 4", "/sys", "\xff\n\xff"}) {
    EXPECT_FALSE(is_mount_point(text, "/sys")) << text;
  }
}

TEST(LoadedModule, IsFoundByItsWholeName) {
  constexpr std::string_view kModules =
      "intel_rapl_msr 20480 0 - Live 0x0000000000000000\n"
      "intel_rapl_common 45056 1 intel_rapl_msr, Live 0x0000000000000000\n";
  EXPECT_TRUE(is_loaded(kModules, "intel_rapl_msr"));
  EXPECT_TRUE(is_loaded(kModules, "intel_rapl_common"));
  EXPECT_FALSE(is_loaded(kModules, "intel_rapl"));
  EXPECT_FALSE(is_loaded("", "intel_rapl_msr"));
}

/// A machine whose powercap shows nothing; each test adds what explains it.
class NoZones : public testing::Test {
 protected:
  NoZones() {
    folder_.write("sys/class/powercap/.keep", "");
    folder_.write("proc/self/mountinfo", "22 27 0:21 / /proc rw,relatime - proc proc rw\n");
    system_.sysfs = folder_.path() / "sys";
    system_.procfs = folder_.path() / "proc";
  }
  void mount_over(const std::string& relative) {
    folder_.write("proc/self/mountinfo",
                  "99 23 0:50 / " + (system_.sysfs / relative).string() + " ro - tmpfs tmpfs ro\n");
  }

  fakes::TempFolder folder_;
  System system_;
  CpuInfo intel_{.vendor = "GenuineIntel"};
  CpuInfo amd_{.vendor = "AuthenticAMD"};
};

TEST_F(NoZones, BecauseThereIsNoSysfs) {
  system_.sysfs = folder_.path() / "nowhere";
  const SensorRefusal refused = no_zones(system_, intel_, false);
  EXPECT_EQ(refused.subject, "CPU energy");
  EXPECT_EQ(refused.reason, "there is no folder " + system_.sysfs.string());
  EXPECT_THAT(refused.remedy, HasSubstr("--sysfs"));
  EXPECT_EQ(refused.domain, std::nullopt);
}

TEST_F(NoZones, BecauseTheContainerMountsOverThem) {
  for (const char* hidden : {"devices/virtual/powercap", "class/powercap"}) {
    mount_over(hidden);
    const SensorRefusal refused = no_zones(system_, intel_, false);
    EXPECT_EQ(refused.reason, "this container hides the energy counters");
    EXPECT_THAT(refused.proof,
                HasSubstr("a file system is mounted over " + (system_.sysfs / hidden).string()));
    EXPECT_THAT(refused.remedy, HasSubstr("docker run -v /run/wattled:/run/wattled"));
    EXPECT_THAT(refused.risk, HasSubstr("PLATYPUS"));
  }
}

TEST_F(NoZones, BecauseTheirLinksLeadNowhere) {
  const SensorRefusal refused = no_zones(system_, intel_, true);
  EXPECT_EQ(refused.reason, "this container hides the energy counters");
  EXPECT_THAT(refused.proof, HasSubstr("lead nowhere"));
  EXPECT_THAT(refused.remedy, Not(IsEmpty()));
}

TEST_F(NoZones, BecauseThisIsAVirtualMachine) {
  const SensorRefusal refused =
      no_zones(system_, {.vendor = "AuthenticAMD", .hypervisor = true}, false);
  EXPECT_EQ(refused.reason,
            "this is a virtual machine; the host does not expose energy counters to it");
  EXPECT_THAT(refused.proof, HasSubstr((system_.sysfs / "class/powercap").string()));
  EXPECT_THAT(refused.proof, HasSubstr("'hypervisor'"));
  EXPECT_THAT(refused.remedy, HasSubstr("measure on the host"));
}

TEST_F(NoZones, BecauseThisIsAVirtualMachineOnArm) {
  folder_.write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  folder_.write("sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
  const SensorRefusal refused = no_zones(system_, {}, false);
  EXPECT_THAT(refused.reason, HasSubstr("this is a virtual machine"));
  EXPECT_THAT(refused.proof, HasSubstr("names 'KVM Virtual Machine' of 'QEMU'"));
}

TEST_F(NoZones, BecauseTheProcessorHasNone) {
  const SensorRefusal refused = no_zones(system_, {.vendor = "CentaurHauls"}, false);
  EXPECT_EQ(refused.reason, "this processor has no energy counters that powercap reads");
  EXPECT_THAT(refused.proof, HasSubstr("Intel and AMD"));
  EXPECT_THAT(refused.remedy, IsEmpty()) << "nothing would help";
}

TEST_F(NoZones, BecauseTheModuleIsMissing) {
  folder_.write("proc/modules", "loop 40960 0 - Live 0x0000000000000000\n");
  for (const CpuInfo& cpu : {intel_, amd_}) {
    const SensorRefusal refused = no_zones(system_, cpu, false);
    EXPECT_THAT(refused.reason, HasSubstr("module"));
    EXPECT_THAT(refused.reason, HasSubstr("not loaded"));
    EXPECT_THAT(refused.proof, HasSubstr("intel_rapl_msr is not in /proc/modules"));
    EXPECT_THAT(refused.remedy, HasSubstr("modprobe intel_rapl_msr"));
  }
}

TEST_F(NoZones, BecauseTheModuleFindsNothing) {
  folder_.write("proc/modules", "intel_rapl_msr 20480 0 - Live 0x0000000000000000\n");
  const SensorRefusal refused = no_zones(system_, intel_, false);
  EXPECT_EQ(refused.reason, "the kernel finds no energy counters in this processor");
  EXPECT_THAT(refused.proof, HasSubstr("intel_rapl_msr is loaded"));
  EXPECT_THAT(refused.remedy, HasSubstr("dmesg"));
}

TEST_F(NoZones, AMaskSaysMoreThanAVirtualMachine) {
  mount_over("devices/virtual/powercap");
  EXPECT_EQ(no_zones(system_, {.vendor = "GenuineIntel", .hypervisor = true}, false).reason,
            "this container hides the energy counters");
}

TEST(Unreadable, ForUsersSaysTheKernelRuleAndTheCommandThatHelps) {
  const fakes::TempFolder folder;
  folder.write("class/powercap/intel-rapl:0/energy_uj", "1\n");
  const std::string path = (folder.path() / "class/powercap/intel-rapl:0/energy_uj").string();
  System system;
  system.sysfs = folder.path();
  const SensorRefusal refused = unreadable(Domain::package(0), path, EACCES, system);
  EXPECT_EQ(refused.subject, "package_0");
  EXPECT_EQ(refused.domain, Domain::package(0));
  EXPECT_EQ(refused.reason, "energy_uj is readable by root only");
  EXPECT_EQ(refused.denied_path, path);
  EXPECT_THAT(refused.proof, HasSubstr("class/powercap/*/energy_uj: mode 0"));
  EXPECT_THAT(refused.proof, testing::ContainsRegex("mode 0[0-7]+, owner [0-9]+; Linux .*"));
  EXPECT_EQ(refused.remedy, "wattle doctor --fix cpu prints the commands that allow it");
  EXPECT_THAT(refused.risk, HasSubstr("PLATYPUS"));
}

TEST(Unreadable, ForUsersIsOneCauseOfAllDomains) {
  const fakes::TempFolder folder;
  std::vector<SensorRefusal> refused;
  for (const auto& [domain, zone] : {std::pair(Domain::package(0), "intel-rapl:0"),
                                     std::pair(Domain::dram(0), "intel-rapl:0:0")}) {
    const std::string name = std::string("class/powercap/") + zone + "/energy_uj";
    folder.write(name, "1\n");
    System system;
    system.sysfs = folder.path();
    refused.push_back(unreadable(domain, (folder.path() / name).string(), EACCES, system));
  }
  const std::vector<SharedCause> causes = by_cause(refused);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(cause_text(causes[0]),
            "package_0, dram_0: energy_uj is readable by root only\n"
            "  fix: wattle doctor --fix cpu prints the commands that allow it");
}

TEST(Unreadable, ForAnotherCauseSaysThat) {
  const SensorRefusal refused = unreadable(Domain::dram(1), "/x/energy_uj", EIO, System{});
  EXPECT_EQ(refused.reason, "its counter cannot be read: Input/output error");
  EXPECT_EQ(refused.proof, "/x/energy_uj");
  EXPECT_EQ(refused.domain, Domain::dram(1));
  EXPECT_THAT(refused.remedy, IsEmpty());
}

}  // namespace
}  // namespace wattle::powercap
