#include "sensors/cpu_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(CpuInfo, IsThatOfTheFirstProcessor) {
  const CpuInfo info = parse_cpu_info(
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon 1\nflags\t\t: fpu vme\n\n"
      "processor\t: 1\nvendor_id\t: AuthenticAMD\nmodel name\t: EPYC 2\nflags\t\t: hypervisor\n");
  EXPECT_EQ(info.vendor, "GenuineIntel");
  EXPECT_EQ(info.model_name, "Xeon 1");
  EXPECT_FALSE(info.hypervisor);
  EXPECT_TRUE(info.is_intel());
  EXPECT_FALSE(info.is_amd());
}

TEST(CpuInfo, KnowsAMDAndItsLicensee) {
  EXPECT_TRUE(parse_cpu_info("vendor_id : AuthenticAMD\n").is_amd());
  EXPECT_TRUE(parse_cpu_info("vendor_id : HygonGenuine\n").is_amd());
}

TEST(CpuInfo, SeesAVirtualMachineByItsFlag) {
  EXPECT_TRUE(parse_cpu_info("flags : fpu hypervisor lahf_lm\n").hypervisor);
  EXPECT_TRUE(parse_cpu_info("flags : hypervisor\n").hypervisor);
}

TEST(CpuInfo, TakesNoOtherWordForTheFlag) {
  EXPECT_FALSE(parse_cpu_info("flags : nohypervisor hypervisor_x\n").hypervisor);
  EXPECT_FALSE(parse_cpu_info("bugs : hypervisor\n").hypervisor);
}

TEST(CpuInfo, KeepsColonsInAValue) {
  EXPECT_EQ(parse_cpu_info("model name : CPU: fast\n").model_name, "CPU: fast");
}

TEST(CpuInfo, IsEmptyWhereTheTextDoesNotSay) {
  for (const char* text : {"", "\n", "garbage", "vendor_id", "vendor_id:", "Processor : ARMv8\n"}) {
    const CpuInfo info = parse_cpu_info(text);
    EXPECT_EQ(info.vendor, "") << text;
    EXPECT_EQ(info.model_name, "") << text;
    EXPECT_FALSE(info.hypervisor) << text;
    EXPECT_FALSE(info.is_amd() || info.is_intel()) << text;
  }
}

TEST(CpuInfo, MakesNamesPrintable) {
  EXPECT_EQ(parse_cpu_info("model name : a\x1b[2J\xff\n").model_name, R"(a\x1b[2J\xff)");
}

TEST(CpuInfo, IsReadFromProcfs) {
  const fakes::TempFolder folder;
  System system;
  system.procfs = folder.path();
  system.sysfs = folder.path();
  EXPECT_EQ(read_cpu_info(system).vendor, "") << "no such file";
  folder.write("cpuinfo", "vendor_id : GenuineIntel\n\n" + std::string(1'000'000, 'x'));
  EXPECT_EQ(read_cpu_info(system).vendor, "GenuineIntel");
}

TEST(CpuInfo, IsThatOfSysfsWhereProcShowsProcessesAlone) {
  const CpuInfo amd = parse_cpu_alias("cpu:type:x86,ven0002fam0019mod0001:feature:,0000,0001,");
  EXPECT_TRUE(amd.is_amd());
  EXPECT_FALSE(amd.hypervisor);
  const CpuInfo virtual_intel =
      parse_cpu_alias("cpu:type:x86,ven0000fam0006mod008F:feature:,0000,009F,00C0,");
  EXPECT_TRUE(virtual_intel.is_intel());
  EXPECT_TRUE(virtual_intel.hypervisor);
  EXPECT_EQ(parse_cpu_alias("cpu:type:aarch64:feature:,0000").vendor, "");
  EXPECT_EQ(parse_cpu_alias("").vendor, "");

  const fakes::TempFolder folder;
  folder.write("sys/devices/system/cpu/modalias",
               "cpu:type:x86,ven0009fam0018mod0001:feature:,0000,\n");
  System system;
  system.procfs = folder.path() / "proc";
  system.sysfs = folder.path() / "sys";
  EXPECT_EQ(read_cpu_info(system).vendor, "HygonGenuine");
}

TEST(CpuList, NamesOneCpuForEachPackage) {
  EXPECT_THAT(parse_cpu_list("0"), Optional(ElementsAre(0)));
  EXPECT_THAT(parse_cpu_list("0,18"), Optional(ElementsAre(0, 18)));
  EXPECT_THAT(parse_cpu_list("0-2,8,10-11"), Optional(ElementsAre(0, 1, 2, 8, 10, 11)));
  EXPECT_THAT(parse_cpu_list("8191"), Optional(ElementsAre(8191)));
}

TEST(CpuList, OfGarbageIsNone) {
  for (const char* text : {"", ",", "0,", ",0", "-", "0-", "-1", "1-0", "0--1", "0x1", "a", "0 1",
                           "0,0", "1,0", "0-3,2", "0-4294967295", "99999999999", "65536"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace wattle
