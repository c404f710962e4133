#include "sensors/cpu_info.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

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
  EXPECT_EQ(read_cpu_info(system).vendor, "") << "no such file";
  folder.write("cpuinfo", "vendor_id : GenuineIntel\n\n" + std::string(1'000'000, 'x'));
  EXPECT_EQ(read_cpu_info(system).vendor, "GenuineIntel");
}

}  // namespace
}  // namespace wattle
