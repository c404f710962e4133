#include "sensors/powercap/powercap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "fakes/unprivileged.hpp"
#include "fakes/virtual_clock.hpp"
#include "powercap_probe.hpp"
#include "sensors/cpu_zones.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::powercap {
namespace {

namespace fs = std::filesystem;
using fakes::kFineUnit;
using fakes::kPackageUnit;
using fakes::kServerDramUnit;
using fakes::kServerPsysUnit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr std::string_view kAmdServer =
    "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7543\nflags\t\t: fpu msr\n\n";

TEST_F(PowercapProbe, FindsTheZonesOfAServer) {
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 1000);
  tree_.add_zone("intel-rapl:0:0", "dram", kServerDramUnit, 2000);
  tree_.add_zone("intel-rapl:1", "package-1", kPackageUnit, 3000);
  tree_.add_zone("intel-rapl:1:0", "dram", kServerDramUnit, 4000);
  probe_tree();
  EXPECT_THAT(devices(),
              ElementsAre(ElementsAre("package_0", "dram_0"), ElementsAre("package_1", "dram_1")));
  EXPECT_THAT(found_.refused, IsEmpty());
  EXPECT_THAT(read_all(), ElementsAre(Pair("dram_0", 2000), Pair("dram_1", 4000),
                                      Pair("package_0", 1000), Pair("package_1", 3000)));
}

TEST_F(PowercapProbe, DescribesAChannel) {
  tree_.add_zone("intel-rapl:0", "package-0", kFineUnit);
  probe_tree();
  const Channel& package = channel(Domain::package(0));
  EXPECT_EQ(package.source, "powercap");
  EXPECT_EQ(package.place,
            (tree_.system().sysfs / "class/powercap/intel-rapl:0/energy_uj").string());
  EXPECT_EQ(package.counter.tick.si(), 1.0 / 65536.0);
  EXPECT_EQ(package.counter.modulus, std::uint64_t{1} << 32U);
  EXPECT_EQ(package.update.mean, kRaplUpdate.mean);
}

TEST_F(PowercapProbe, SaysWhatLiesInsideWhat) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:0:0", "core");
  tree_.add_zone("intel-rapl:0:1", "uncore");
  tree_.add_zone("intel-rapl:0:2", "dram");
  tree_.add_zone("intel-rapl:1", "psys");
  probe_tree();
  EXPECT_EQ(channel(Domain::core(0)).contained_in, Domain::package(0));
  EXPECT_EQ(channel(Domain::uncore(0)).contained_in, Domain::package(0));
  EXPECT_EQ(channel(Domain::package(0)).contained_in, std::nullopt);
  EXPECT_EQ(channel(Domain::dram(0)).contained_in, std::nullopt);
  EXPECT_EQ(channel(Domain::psys()).contained_in, std::nullopt);
}

TEST_F(PowercapProbe, FindsAnyNumberOfSockets) {
  constexpr int kSockets = 16;
  for (int i = 0; i < kSockets; ++i) {
    tree_.add_zone("intel-rapl:" + std::to_string(i), "package-" + std::to_string(i));
  }
  probe_tree();
  EXPECT_THAT(found_.sensors, SizeIs(kSockets));
  EXPECT_EQ(domains().at(2), "package_2") << "by number, not by spelling";
  EXPECT_EQ(domains().at(15), "package_15");
}

TEST_F(PowercapProbe, FindsDies) {
  tree_.add_zone("intel-rapl:0", "package-0-die-0");
  tree_.add_zone("intel-rapl:0:0", "dram");
  tree_.add_zone("intel-rapl:1", "package-0-die-1");
  tree_.add_zone("intel-rapl:1:0", "core");
  tree_.add_zone("intel-rapl:2", "package-1-die-0");
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0_die_0", "dram_0_die_0"),
                                     ElementsAre("package_0_die_1", "core_0_die_1"),
                                     ElementsAre("package_1_die_0")));
  EXPECT_EQ(channel(Domain::core(0).on_die(1)).contained_in, Domain::package(0).on_die(1));
}

TEST_F(PowercapProbe, FindsThePlatformAtAnyZoneNumber) {
  tree_.add_zone("intel-rapl:0", "psys", kServerPsysUnit, 77);
  tree_.add_zone("intel-rapl:1", "package-0");
  tree_.add_zone("intel-rapl:7", "psys-1", kServerPsysUnit, 78);
  probe_tree();
  EXPECT_THAT(devices(),
              ElementsAre(ElementsAre("psys"), ElementsAre("package_0"), ElementsAre("psys_1")));
  EXPECT_EQ(read_all().at("psys"), 77U);
  EXPECT_EQ(channel(Domain::psys()).counter.tick, Joules(1.0));
}

TEST_F(PowercapProbe, TakesTheSocketFromTheNameNotFromTheZonesNumber) {
  tree_.add_zone("intel-rapl:3", "package-1", kPackageUnit, 11);
  tree_.add_zone("intel-rapl:3:5", "dram", kPackageUnit, 12);
  tree_.add_zone("intel-rapl:9", "package-0", kPackageUnit, 21);
  tree_.add_zone("intel-rapl:9:2", "dram", kPackageUnit, 22);
  probe_tree();
  EXPECT_THAT(found_.refused, IsEmpty());
  EXPECT_THAT(read_all(), ElementsAre(Pair("dram_0", 22), Pair("dram_1", 12), Pair("package_0", 21),
                                      Pair("package_1", 11)));
}

/// As a copy of the tree has it: no links, zones within zones.
void nest_zones(const fs::path& sysfs) {
  const fs::path folder = sysfs / "class/powercap";
  fs::remove_all(folder);
  fs::rename(sysfs / "devices/virtual/powercap", folder);
}

TEST_F(PowercapProbe, FindsZonesThatAreNestedWithoutLinks) {
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 1000);
  tree_.add_zone("intel-rapl:0:0", "dram", kServerDramUnit, 2000);
  tree_.add_zone("intel-rapl:1", "package-1", kPackageUnit, 3000);
  tree_.add_zone("intel-rapl-mmio:0", "package-0", kPackageUnit, 4000);
  nest_zones(tree_.system().sysfs);
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0", "dram_0"), ElementsAre("package_1")));
  EXPECT_THAT(read_all(),
              ElementsAre(Pair("dram_0", 2000), Pair("package_0", 1000), Pair("package_1", 3000)));
  EXPECT_EQ(
      channel(Domain::dram(0)).place,
      (tree_.system().sysfs / "class/powercap/intel-rapl/intel-rapl:0/intel-rapl:0:0/energy_uj")
          .string());
}

TEST_F(PowercapProbe, ReadsAZoneThatIsLinkedAndNestedOnceThroughItsLink) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:0:0", "dram");
  // The kernel links the folder of the control type too.
  fs::create_directory_symlink(tree_.system().sysfs / "devices/virtual/powercap/intel-rapl",
                               tree_.system().sysfs / "class/powercap/intel-rapl");
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0", "dram_0")));
  EXPECT_THAT(found_.refused, IsEmpty());
  EXPECT_EQ(channel(Domain::dram(0)).place,
            (tree_.system().sysfs / "class/powercap/intel-rapl:0:0/energy_uj").string());
}

TEST_F(PowercapProbe, FindsMemoryThatIsNestedInALinkedPackage) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:0:0", "dram");
  fs::remove(tree_.system().sysfs / "class/powercap/intel-rapl:0:0");
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0", "dram_0")));
}

TEST_F(PowercapProbe, PrefersANestedZoneToALinkThatLeadsNowhere) {
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 5);
  nest_zones(tree_.system().sysfs);
  fs::create_directory_symlink("../nowhere", tree_.system().sysfs / "class/powercap/intel-rapl:0");
  probe_tree();
  EXPECT_THAT(read_all(), ElementsAre(Pair("package_0", 5)));
  EXPECT_THAT(found_.refused, IsEmpty());
}

TEST_F(PowercapProbe, TakesNoZoneFromAFolderThatIsNotItsOwn) {
  tree_.add_zone("intel-rapl:0", "package-0");
  nest_zones(tree_.system().sysfs);
  const fs::path folder = tree_.system().sysfs / "class/powercap";
  fs::create_directories(folder / "dtpm");
  fs::copy(folder / "intel-rapl/intel-rapl:0", folder / "dtpm/intel-rapl:7");
  fs::create_directory_symlink("..", folder / "intel-rapl/intel-rapl:0/intel-rapl:0:0");
  fs::create_directory_symlink(".", folder / "intel-rapl/intel-rapl");
  probe_tree();
  EXPECT_THAT(domains(), ElementsAre("package_0"));
}

TEST_F(PowercapProbe, NumbersCpusByNestedZonesToo) {
  tree_.add_zone("intel-rapl:0", "package-1");
  tree_.add_zone("intel-rapl:1", "package-0");
  nest_zones(tree_.system().sysfs);
  const std::vector<CpuZone> zones = list_cpu_zones(tree_.system());
  ASSERT_THAT(zones, SizeIs(2));
  EXPECT_EQ(zones[0].domain, Domain::package(1));
  EXPECT_EQ(zones[1].domain, Domain::package(0));
}

TEST_F(PowercapProbe, CountsASecondControlTypeOnce) {
  tree_.add_zone("intel-rapl-mmio:0", "package-0", kPackageUnit, 1);
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 2);
  probe_tree();
  EXPECT_THAT(read_all(), ElementsAre(Pair("package_0", 2))) << "the processor's own registers";
  EXPECT_EQ(only_refusal().subject, "intel-rapl-mmio:0");
  EXPECT_THAT(only_refusal().reason, HasSubstr("the same counter as package_0"));
  EXPECT_EQ(only_refusal().domain, std::nullopt) << "package_0 itself is measured";
}

TEST_F(PowercapProbe, UsesTheSecondControlTypeWhereTheFirstFails) {
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 2);
  tree_.remove_file("intel-rapl:0", "energy_uj");
  tree_.add_zone("intel-rapl-mmio:0", "package-0", kPackageUnit, 1);
  tree_.add_zone("intel-rapl-mmio:0:0", "dram", kPackageUnit, 5);
  probe_tree();
  EXPECT_THAT(read_all(), ElementsAre(Pair("dram_0", 5), Pair("package_0", 1)));
  EXPECT_THAT(channel(Domain::package(0)).place, HasSubstr("intel-rapl-mmio:0"));
  EXPECT_EQ(only_refusal().domain, Domain::package(0));
}

TEST_F(PowercapProbe, TakesWhatTheSecondControlTypeHasBeyondTheFirst) {
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 2);
  tree_.add_zone("intel-rapl-mmio:0", "package-0", kPackageUnit, 1);
  tree_.add_zone("intel-rapl-mmio:0:0", "dram", kPackageUnit, 5);
  probe_tree();
  EXPECT_THAT(read_all(), ElementsAre(Pair("dram_0", 5), Pair("package_0", 2)));
}

TEST_F(PowercapProbe, WorksWithoutARange) {
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 1000);
  tree_.remove_file("intel-rapl:0", "max_energy_range_uj");
  probe_tree();
  EXPECT_EQ(channel(Domain::package(0)).counter.tick, Joules(1e-6));
  EXPECT_EQ(channel(Domain::package(0)).counter.modulus, 0U);
  EXPECT_EQ(read_all().at("package_0"), kPackageUnit.energy_uj(1000));
}

TEST_F(PowercapProbe, TakesNoGarbageForARange) {
  for (const char* range : {"", "garbage\n", "-1\n", "99999999999999999999\n"}) {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.write_file("intel-rapl:0", "max_energy_range_uj", range);
    probe_tree();
    EXPECT_EQ(channel(Domain::package(0)).counter.modulus, 0U) << range;
    fs::remove_all(tree_.system().sysfs / "class/powercap/intel-rapl:0");
  }
}

TEST_F(PowercapProbe, GreatestPowerIsTwiceTheLargestLimit) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.write_file("intel-rapl:0", "constraint_0_power_limit_uw", "150000000\n");
  tree_.write_file("intel-rapl:0", "constraint_0_max_power_uw", "205000000\n");
  tree_.write_file("intel-rapl:0", "constraint_1_power_limit_uw", "246000000\n");
  tree_.write_file("intel-rapl:0", "constraint_1_max_power_uw", "0\n");
  tree_.add_zone("intel-rapl:0:0", "dram");
  tree_.write_file("intel-rapl:0:0", "constraint_0_max_power_uw", "41250000\n");
  probe_tree();
  EXPECT_DOUBLE_EQ(channel(Domain::package(0)).counter.max_power.si(), 492.0);
  EXPECT_DOUBLE_EQ(channel(Domain::dram(0)).counter.max_power.si(), 82.5);
}

TEST_F(PowercapProbe, GreatestPowerIsTheDefaultWhereNoLimitIsStated) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.write_file("intel-rapl:0", "constraint_0_power_limit_uw", "garbage\n");
  tree_.write_file("intel-rapl:0", "constraint_1_power_limit_uw", "0\n");
  tree_.add_zone("intel-rapl:0:0", "dram");
  tree_.add_zone("intel-rapl:1", "psys");
  probe_tree();
  for (const Domain& domain : {Domain::package(0), Domain::dram(0), Domain::psys()}) {
    EXPECT_EQ(channel(domain).counter.max_power, traits_of(domain).max_power);
  }
}

TEST_F(PowercapProbe, CoresAreLimitedByTheirPackage) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.write_file("intel-rapl:0", "constraint_0_max_power_uw", "65000000\n");
  tree_.add_zone("intel-rapl:0:0", "core");
  tree_.add_zone("intel-rapl:0:1", "uncore");
  tree_.add_zone("intel-rapl:0:2", "dram");
  probe_tree();
  EXPECT_EQ(channel(Domain::core(0)).counter.max_power, Watts(130.0));
  EXPECT_EQ(channel(Domain::uncore(0)).counter.max_power, Watts(130.0));
  EXPECT_EQ(channel(Domain::dram(0)).counter.max_power, traits_of(DomainKind::dram).max_power)
      << "memory lies outside the package";
}

}  // namespace
}  // namespace wattle::powercap
