#include "estimate/microarchitecture.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sensors/cpu_info.hpp"

namespace wattle {
namespace {

std::string x86(const char* vendor, int family, int model, int stepping) {
  return "processor\t: 0\nvendor_id\t: " + std::string(vendor) +
         "\ncpu family\t: " + std::to_string(family) + "\nmodel\t\t: " + std::to_string(model) +
         "\nmodel name\t: Some CPU\nstepping\t: " + std::to_string(stepping) + "\nflags\t: fpu\n\n";
}

std::string arm(const char* part) {
  return "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
         "CPU variant\t: 0x3\nCPU part\t: " +
         std::string(part) + "\nCPU revision\t: 1\n\n";
}

Microarchitecture of(const std::string& text) { return recognize(parse_processors(text)); }

TEST(ProcessorKinds, AreThoseOfAllProcessorsEachOnce) {
  const Processors processors = parse_processors(arm("0xd03") + arm("0xd09") + arm("0xd03"));
  ASSERT_EQ(processors.kinds.size(), 2U);
  EXPECT_EQ(processors.kinds[0].part, 0xd03U);
  EXPECT_EQ(processors.kinds[1].part, 0xd09U);
}

TEST(ProcessorKinds, Of512ProcessorsAreOne) {
  std::string text;
  for (int processor = 0; processor < 512; ++processor) text += x86("AuthenticAMD", 26, 2, 1);
  const Processors processors = parse_processors(text);
  ASSERT_EQ(processors.kinds.size(), 1U);
  EXPECT_EQ(recognize(processors).title, "AMD EPYC gen 5 (Turin)");
}

TEST(ProcessorKinds, SayWhetherTheMachineIsVirtual) {
  EXPECT_TRUE(parse_processors("processor : 0\nflags : fpu hypervisor\n").hypervisor);
  EXPECT_FALSE(parse_processors("processor : 0\nflags : fpu nohypervisor\n").hypervisor);
}

TEST(ProcessorKinds, AreNoneWhereTheTextHasNone) {
  for (const char* text : {"", "\n\n", "garbage", "processor : 0\n", "model : many\n", "::::"}) {
    EXPECT_TRUE(parse_processors(text).kinds.empty()) << text;
  }
}

TEST(ProcessorKinds, AreLimited) {
  std::string text;
  for (int model = 0; model < 1000; ++model) text += x86("GenuineIntel", 6, model, 0);
  EXPECT_EQ(parse_processors(text).kinds.size(), Processors::kMostKinds);
}

TEST(Microarchitecture, IsRecognizedByTheNumbersInVirtualMachinesToo) {
  const Microarchitecture turin = of(x86("AuthenticAMD", 26, 2, 1));
  EXPECT_TRUE(turin.is_known);
  EXPECT_EQ(turin.title, "AMD EPYC gen 5 (Turin)");
  EXPECT_EQ(turin.recognized_by, "AuthenticAMD, cpu family 26, model 2, stepping 1");
  EXPECT_EQ(turin.machines, 41U);
}

TEST(Microarchitecture, OfOneModelDependsOnTheStepping) {
  EXPECT_EQ(of(x86("GenuineIntel", 6, 85, 4)).title, "Intel Skylake server");
  EXPECT_EQ(of(x86("GenuineIntel", 6, 85, 7)).title, "Intel Cascade Lake");
  EXPECT_EQ(of(x86("GenuineIntel", 6, 85, 11)).title, "Intel Cooper Lake");
}

TEST(Microarchitecture, OfModelsInTheTable) {
  EXPECT_EQ(of(x86("AuthenticAMD", 23, 1, 2)).title, "AMD EPYC gen 1 (Naples)");
  EXPECT_EQ(of(x86("AuthenticAMD", 23, 49, 0)).title, "AMD EPYC gen 2 (Rome)");
  EXPECT_EQ(of(x86("AuthenticAMD", 25, 1, 1)).title, "AMD EPYC gen 3 (Milan)");
  EXPECT_EQ(of(x86("AuthenticAMD", 25, 160, 1)).title, "AMD EPYC gen 4 (Genoa, Bergamo, Siena)");
  EXPECT_EQ(of(x86("GenuineIntel", 6, 143, 8)).title, "Intel Sapphire Rapids");
  EXPECT_EQ(of(x86("GenuineIntel", 6, 207, 2)).title, "Intel Emerald Rapids");
  EXPECT_EQ(of(x86("GenuineIntel", 6, 173, 1)).title, "Intel Granite Rapids");
  EXPECT_EQ(of(x86("GenuineIntel", 6, 175, 3)).title, "Intel Sierra Forest");
  EXPECT_EQ(of(arm("0xd0c")).title, "Arm Neoverse N1");
}

TEST(Microarchitecture, ThatIsUnknownHasTheRangeOfAny) {
  const Microarchitecture client = of(x86("GenuineIntel", 6, 151, 2));
  EXPECT_FALSE(client.is_known);
  EXPECT_EQ(client.title, "unknown microarchitecture of Intel");
  EXPECT_EQ(client.full.high, server_power_of_everyone().full.high);
  EXPECT_TRUE(client.has_smt) << "or it may have";
  EXPECT_EQ(of(arm("0xd4f")).title, "unknown microarchitecture of Arm");
  EXPECT_FALSE(of(arm("0xd4f")).has_smt);
}

TEST(Microarchitecture, OfAnUnknownVendorHasTheRangeOfAnyToo) {
  const ServerPower& all = server_power_of_everyone();
  const std::string riscv =
      "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t: "
      "sifive,u74-mc\n\n";
  for (const std::string& text : {std::string(), riscv, x86("CentaurHauls", 7, 59, 0)}) {
    const Microarchitecture unknown = of(text);
    EXPECT_FALSE(unknown.is_known);
    EXPECT_EQ(unknown.title, "unknown microarchitecture");
    EXPECT_EQ(unknown.machines, all.machines);
    EXPECT_EQ(unknown.full.high, all.full.high);
  }
}

TEST(Microarchitecture, OfHeterogeneousCoresHasTheWidestOfTheirRanges) {
  const Microarchitecture both = of(arm("0xd0c") + arm("0xd03"));
  EXPECT_FALSE(both.is_known);
  EXPECT_EQ(both.title, "Arm Neoverse N1 and unknown microarchitecture of Arm");
  const Microarchitecture little = of(arm("0xd03"));
  EXPECT_LE(both.idle.low, little.idle.low);
  EXPECT_GE(both.full.high, little.full.high);
}

TEST(ServerPower, LiesInOrderInEachRow) {
  for (const ServerPower& row : known_server_power()) {
    for (const PowerRange& range : {row.idle, row.full, row.above, row.cores_per_package}) {
      EXPECT_GT(range.low, 0.0) << row.key;
      EXPECT_LE(range.low, range.typical) << row.key;
      EXPECT_LE(range.typical, range.high) << row.key;
    }
    EXPECT_LE(row.full.high, 6.0 * row.full.low) << row.key;
    EXPECT_LE(row.idle.high, 6.0 * row.idle.low) << row.key;
  }
}

}  // namespace
}  // namespace wattle
