#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fakes/powercap_tree.hpp"
#include "fakes/unprivileged.hpp"
#include "fakes/virtual_clock.hpp"
#include "powercap_probe.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/powercap/powercap.hpp"

namespace wattle::powercap {
namespace {
namespace fs = std::filesystem;
using fakes::kPackageUnit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

TEST_F(PowercapProbe, RefusesTheCoreCounterOfAMD) {
  tree_.set_cpu_info(kAmdServer);
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:0:0", "core");
  probe_tree();
  EXPECT_THAT(domains(), ElementsAre("package_0"));
  EXPECT_EQ(only_refusal().subject, "core_0");
  EXPECT_EQ(only_refusal().domain, Domain::core(0));
  EXPECT_THAT(only_refusal().reason, HasSubstr("single core"));
  EXPECT_THAT(only_refusal().proof, HasSubstr("AuthenticAMD"));
}

TEST_F(PowercapProbe, RefusesACounterThatAUserMayNotRead) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:1", "package-1");
  fs::permissions(tree_.root(), fs::perms(0755));
  fs::permissions(tree_.zone_path("intel-rapl:0") / "energy_uj", fs::perms::none);
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become another user here";
  probe_tree();
  EXPECT_THAT(domains(), ElementsAre("package_1")) << "one that fails does not hide the others";
  const SensorRefusal& refused = only_refusal();
  EXPECT_EQ(refused.domain, Domain::package(0));
  EXPECT_EQ(refused.reason, "energy_uj is readable by root only");
  EXPECT_THAT(refused.denied_path, HasSubstr("intel-rapl:0/energy_uj"));
  EXPECT_THAT(refused.proof, HasSubstr("mode 0000"));
  EXPECT_THAT(refused.remedy, HasSubstr("wattle doctor --fix cpu"));
  EXPECT_THAT(refused.risk, Not(IsEmpty()));
}

TEST_F(PowercapProbe, RefusesACounterThatCannotBeRead) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:1", "package-1");
  tree_.remove_file("intel-rapl:0", "energy_uj");
  tree_.remove_file("intel-rapl:1", "energy_uj");
  fs::create_directory(tree_.zone_path("intel-rapl:1") / "energy_uj");
  probe_tree();
  EXPECT_THAT(domains(), IsEmpty());
  ASSERT_THAT(found_.refused, SizeIs(2));
  EXPECT_THAT(found_.refused[0].reason, HasSubstr("No such file or directory"));
  EXPECT_THAT(found_.refused[1].reason, HasSubstr("Is a directory"));
  EXPECT_THAT(found_.refused[1].proof, HasSubstr("intel-rapl:1/energy_uj"));
}

TEST_F(PowercapProbe, RefusesACounterThatHoldsNoEnergy) {
  for (const char* content : {"", "\n", "garbage\n", "-1\n", "1 2\n", "99999999999999999999\n",
                              "262143328911\n" /* one tick beyond the range */}) {
    fakes::PowercapTree tree;
    tree.add_zone("intel-rapl:0", "package-0");
    tree.add_zone("intel-rapl:0:0", "dram", kPackageUnit, 5);
    tree.write_file("intel-rapl:0", "energy_uj", content);
    found_ = probe(tree.system(), clock_);
    EXPECT_THAT(read_all(), ElementsAre(Pair("dram_0", 5))) << content;
    EXPECT_EQ(only_refusal().domain, Domain::package(0)) << content;
    EXPECT_THAT(only_refusal().reason, HasSubstr("does not hold an energy")) << content;
  }
}

TEST_F(PowercapProbe, RefusesAHugeCounterFile) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.write_file("intel-rapl:0", "energy_uj", std::string(10'000'000, '1'));
  probe_tree();
  EXPECT_THAT(only_refusal().reason, HasSubstr("does not hold an energy"));
}

TEST_F(PowercapProbe, EscapesControlCharactersOfACounterFile) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.write_file("intel-rapl:0", "energy_uj", "\x1b[2J\n");
  probe_tree();
  EXPECT_THAT(only_refusal().reason, HasSubstr(R"('\x1b[2J\x0a')"));
}

TEST_F(PowercapProbe, ReadsACounterWhoseFileVanishedLater) {
  tree_.add_zone("intel-rapl:0", "package-0", kPackageUnit, 5);
  probe_tree();
  tree_.remove_file("intel-rapl:0", "energy_uj");
  EXPECT_THAT(read_all(), ElementsAre(Pair("package_0", 5))) << "it is open";
}

TEST_F(PowercapProbe, RefusesZonesWithForeignNames) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:0:0", "gt\x1b[2J");
  tree_.add_zone("intel-rapl:1", "soc");
  probe_tree();
  EXPECT_THAT(domains(), ElementsAre("package_0"));
  ASSERT_THAT(found_.refused, SizeIs(2));
  EXPECT_EQ(found_.refused[0].subject, "intel-rapl:0:0");
  EXPECT_THAT(found_.refused[0].reason, HasSubstr(R"(unknown zone name: gt\x1b[2J)"));
  EXPECT_EQ(found_.refused[1].subject, "intel-rapl:1");
}

TEST_F(PowercapProbe, SaysSoWhereAZoneLiesInNoPackage) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:1", "soc");
  tree_.add_zone("intel-rapl:1:0", "dram");
  tree_.add_zone("intel-rapl:2", "psys");
  tree_.add_zone("intel-rapl:2:0", "core");
  probe_tree();
  EXPECT_THAT(domains(), ElementsAre("package_0", "psys"));
  ASSERT_THAT(found_.refused, SizeIs(3));
  EXPECT_EQ(found_.refused[1].subject, "intel-rapl:1:0");
  EXPECT_THAT(found_.refused[1].reason, HasSubstr("dram lies in no package"));
  EXPECT_EQ(found_.refused[2].subject, "intel-rapl:2:0");
}

TEST_F(PowercapProbe, SaysSoWhereAZoneHasNoName) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:1", "");
  tree_.add_zone("intel-rapl:2", "package-2");
  tree_.remove_file("intel-rapl:2", "name");
  probe_tree();
  EXPECT_THAT(domains(), ElementsAre("package_0"));
  ASSERT_THAT(found_.refused, SizeIs(2));
  EXPECT_EQ(found_.refused[0].subject, "intel-rapl:1");
  EXPECT_THAT(found_.refused[0].reason, HasSubstr("it has no name"));
  EXPECT_THAT(found_.refused[0].proof, HasSubstr("intel-rapl:1/name"));
  EXPECT_EQ(found_.refused[1].subject, "intel-rapl:2");
}

TEST_F(PowercapProbe, ATopZoneWithoutANameMayBeOneMorePackage) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:1", "");
  probe_tree();
  EXPECT_THAT(only_refusal().hidden.kinds, ElementsAre(DomainKind::package));
  EXPECT_EQ(only_refusal().hidden.expected, 2U);
}

TEST_F(PowercapProbe, AZoneInsideWithoutANameMayBeMemory) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:0:0", "");
  probe_tree();
  EXPECT_THAT(only_refusal().hidden.kinds, ElementsAre(DomainKind::dram));
  EXPECT_EQ(only_refusal().hidden.expected, 1U);
}

TEST_F(PowercapProbe, MemoryInAZoneWithoutANameIsHiddenToo) {
  tree_.add_zone("intel-rapl:0", "");
  tree_.add_zone("intel-rapl:0:0", "dram");
  probe_tree();
  ASSERT_THAT(found_.refused, SizeIs(2));
  EXPECT_THAT(found_.refused[1].hidden.kinds, ElementsAre(DomainKind::dram));
  EXPECT_EQ(found_.refused[1].hidden.expected, 1U);
}

TEST_F(PowercapProbe, AZoneWhoseMeaningIsForeignHidesNothing) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:1", "soc");
  probe_tree();
  EXPECT_THAT(only_refusal().hidden.kinds, IsEmpty());
}

TEST_F(PowercapProbe, GivesTheErrorOfANameThatCannotBeRead) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.remove_file("intel-rapl:0", "name");
  fs::create_directory(tree_.zone_path("intel-rapl:0") / "name");
  probe_tree();
  EXPECT_EQ(only_refusal().reason, "its name cannot be read: Is a directory");
}

TEST_F(PowercapProbe, GivesTheErrorOfAFolderThatCannotBeListed) {
  const fs::path folder = tree_.system().sysfs / "class/powercap";
  fs::remove_all(folder);
  fs::create_symlink("powercap", folder);
  probe_tree();
  EXPECT_EQ(only_refusal().reason,
            "cannot list the energy counters: Too many levels of symbolic links");
  EXPECT_EQ(only_refusal().scope, RefusalScope::interface);
}

TEST_F(PowercapProbe, GivesTheErrorOfAFolderOfNestedZonesThatCannotBeListed) {
  const fs::path folder = tree_.system().sysfs / "class/powercap/intel-rapl";
  fs::create_symlink("intel-rapl", folder);
  probe_tree();
  EXPECT_EQ(only_refusal().reason,
            "cannot list the energy counters: Too many levels of symbolic links");
  EXPECT_EQ(only_refusal().proof, folder.string());
}

TEST_F(PowercapProbe, CountsNoDieWhileTheVendorIsUnknown) {
  tree_.add_zone("intel-rapl:0", "package-0-die-0");
  tree_.add_zone("intel-rapl:1", "package-0-die-1");
  fs::remove(tree_.system().procfs / "cpuinfo");
  fs::create_directory(tree_.system().procfs / "cpuinfo");  // as unreadable as can be
  probe_tree();
  EXPECT_THAT(domains(), IsEmpty()) << "AMD's dies show the same counter";
  ASSERT_THAT(found_.refused, SizeIs(2));
  EXPECT_EQ(found_.refused[1].domain, Domain::package(0).on_die(1));
  EXPECT_THAT(found_.refused[1].proof, HasSubstr("cpuinfo: Is a directory"));
}

TEST_F(PowercapProbe, TakesAnEmptyNameForNoMask) {
  tree_.add_zone("intel-rapl:0", "");
  probe_tree();
  EXPECT_EQ(only_refusal().subject, "intel-rapl:0");
  EXPECT_THAT(only_refusal().reason, HasSubstr("it has no name"));
}

TEST_F(PowercapProbe, IgnoresWhatIsNoZone) {
  tree_.add_zone("intel-rapl:0", "package-0");
  for (const char* name : {"intel-rapl", "dtpm", "README", "\x1b[31m:0"}) {
    fs::create_directories(tree_.system().sysfs / "class/powercap" / name);
  }
  probe_tree();
  EXPECT_THAT(domains(), ElementsAre("package_0"));
  EXPECT_THAT(found_.refused, IsEmpty());
}

TEST_F(PowercapProbe, WithoutZonesGivesOneReasonForAll) {
  probe_tree();
  EXPECT_THAT(found_.sensors, IsEmpty());
  EXPECT_EQ(only_refusal().subject, "CPU energy");
  EXPECT_THAT(only_refusal().reason, HasSubstr("module"));
}

TEST_F(PowercapProbe, WithoutAPowercapClassGivesAReasonToo) {
  fs::remove_all(tree_.system().sysfs / "class");
  probe_tree();
  EXPECT_THAT(only_refusal().reason, HasSubstr("module"));
}

TEST_F(PowercapProbe, SeesLinksThatAContainerLeadsNowhere) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.add_zone("intel-rapl:0:0", "dram");
  fs::remove_all(tree_.system().sysfs / "devices");
  probe_tree();
  EXPECT_EQ(only_refusal().reason, "this container hides the energy counters");
}

}  // namespace
}  // namespace wattle::powercap
