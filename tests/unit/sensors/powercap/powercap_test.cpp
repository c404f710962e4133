#include "sensors/powercap/powercap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "fakes/unprivileged.hpp"
#include "fakes/virtual_clock.hpp"
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
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::string_view kAmdServer =
    "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7543\nflags\t\t: fpu msr\n\n";

/// Each test builds a tree, then probes it.
class PowercapProbe : public testing::Test {
 protected:
  void probe_tree() { found_ = probe(tree_.system(), clock_); }

  /// The names of the domains of each sensor.
  [[nodiscard]] std::vector<std::vector<std::string>> devices() const {
    std::vector<std::vector<std::string>> names;
    for (const auto& sensor : found_.sensors) {
      names.emplace_back();
      for (const Channel& channel : sensor->channels()) {
        names.back().push_back(channel.domain.name());
      }
    }
    return names;
  }
  [[nodiscard]] std::vector<std::string> domains() const {
    std::vector<std::string> all;
    for (const auto& names : devices()) all.insert(all.end(), names.begin(), names.end());
    return all;
  }
  [[nodiscard]] const Channel& channel(const Domain& domain) const {
    for (const auto& sensor : found_.sensors) {
      for (const Channel& channel : sensor->channels()) {
        if (channel.domain == domain) return channel;
      }
    }
    throw std::out_of_range("not found: " + domain.name());
  }
  /// What every counter shows now, in ticks; nothing for those that fail.
  [[nodiscard]] std::map<std::string, std::uint64_t> read_all() const {
    std::map<std::string, std::uint64_t> values;
    for (const auto& sensor : found_.sensors) {
      std::vector<Reading> readings(sensor->channels().size());
      sensor->read(readings);
      for (std::size_t i = 0; i < readings.size(); ++i) {
        if (readings[i].status != ReadStatus::ok) continue;
        values[sensor->channels()[i].domain.name()] = readings[i].raw;
      }
    }
    return values;
  }
  [[nodiscard]] const SensorRefusal& only_refusal() const {
    if (found_.refused.size() != 1) throw std::out_of_range("not one refusal");
    return found_.refused.front();
  }

  fakes::PowercapTree tree_;
  fakes::VirtualClock clock_;
  Survey found_;
};

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
  EXPECT_THAT(refused.reason, HasSubstr("intel-rapl:0/energy_uj is readable by root only"));
  EXPECT_THAT(refused.proof, HasSubstr("mode 0000"));
  EXPECT_THAT(refused.remedy, HasSubstr("setcap"));
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
  EXPECT_THAT(found_.refused[0].reason, HasSubstr(R"(means nothing to Wattle: gt\x1b[2J)"));
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
