#include "wattle/domain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "sensors/domain_traits.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<Domain>& domains) {
  std::vector<std::string> names;
  for (const Domain& domain : domains) names.push_back(domain.name());
  return names;
}

TEST(Domain, IsNamedByKindAndNumber) {
  EXPECT_EQ(Domain::package(0).name(), "package_0");
  EXPECT_EQ(Domain::dram(1).name(), "dram_1");
  EXPECT_EQ(Domain::core(0).name(), "core_0");
  EXPECT_EQ(Domain::uncore(0).name(), "uncore_0");
  EXPECT_EQ(Domain::nvidia_gpu(3).name(), "nvidia_gpu_3");
  EXPECT_EQ(Domain::amd_gpu(12).name(), "amd_gpu_12");
  EXPECT_EQ(Domain::intel_gpu(1).name(), "intel_gpu_1");
  EXPECT_EQ(Domain::package(4294967295).name(), "package_4294967295");
}

TEST(Domain, OfTheOnlyPlatformCounterHasNoNumber) {
  EXPECT_EQ(Domain::psys().name(), "psys");
  EXPECT_EQ(Domain::psys(1).name(), "psys_1");
}

TEST(Domain, OfADieSaysWhich) {
  EXPECT_EQ(Domain::package(0).on_die(1).name(), "package_0_die_1");
  EXPECT_EQ(Domain::dram(1).on_die(0).name(), "dram_1_die_0");
  EXPECT_EQ(Domain::package(0).die(), std::nullopt);
  EXPECT_EQ(Domain::package(0).on_die(0).die(), 0U);
}

TEST(Domain, KeepsSocketAndDieAsAnotherKind) {
  const Domain core = Domain::package(2).on_die(1).as(DomainKind::core);
  EXPECT_EQ(core, Domain::core(2).on_die(1));
  EXPECT_EQ(core.as(DomainKind::package), Domain::package(2).on_die(1));
}

TEST(Domain, IsListedByKindThenNumberThenDie) {
  std::vector<Domain> domains = {Domain::psys(),
                                 Domain::uncore(0),
                                 Domain::core(0),
                                 Domain::dram(1),
                                 Domain::dram(0),
                                 Domain::intel_gpu(0),
                                 Domain::amd_gpu(0),
                                 Domain::nvidia_gpu(1),
                                 Domain::package(10),
                                 Domain::package(2),
                                 Domain::package(2).on_die(1),
                                 Domain::package(2).on_die(0)};
  std::ranges::sort(domains);
  EXPECT_THAT(names_of(domains), ElementsAre("package_2", "package_2_die_0", "package_2_die_1",
                                             "package_10", "dram_0", "dram_1", "core_0", "uncore_0",
                                             "nvidia_gpu_1", "amd_gpu_0", "intel_gpu_0", "psys"));
}

TEST(Domain, ServesAsAKey) {
  std::unordered_set<Domain> seen;
  for (std::uint32_t socket = 0; socket < 8; ++socket) {
    for (const Domain& domain : {Domain::package(socket), Domain::dram(socket),
                                 Domain::core(socket), Domain::psys(socket)}) {
      EXPECT_TRUE(seen.insert(domain).second);
      for (std::uint32_t die = 0; die < 4; ++die) {
        EXPECT_TRUE(seen.insert(domain.on_die(die)).second);
      }
    }
  }
  EXPECT_FALSE(seen.insert(Domain::package(7).on_die(3)).second);
}

TEST(Domain, OfManyHasManyHashes) {
  std::unordered_set<std::size_t> hashes;
  for (std::uint32_t socket = 0; socket < 8; ++socket) {
    hashes.insert(std::hash<Domain>{}(Domain::package(socket)));
    hashes.insert(std::hash<Domain>{}(Domain::dram(socket)));
    hashes.insert(std::hash<Domain>{}(Domain::package(socket).on_die(0)));
  }
  EXPECT_EQ(hashes.size(), 24U);
}

TEST(Domain, CountsInATotalOnlyWhereItOverlapsNoOther) {
  EXPECT_TRUE(counts_in_total(DomainKind::package));
  EXPECT_TRUE(counts_in_total(DomainKind::dram));
  EXPECT_TRUE(counts_in_total(DomainKind::nvidia_gpu));
  EXPECT_TRUE(counts_in_total(DomainKind::amd_gpu));
  EXPECT_TRUE(counts_in_total(DomainKind::intel_gpu));
  EXPECT_FALSE(counts_in_total(DomainKind::core));
  EXPECT_FALSE(counts_in_total(DomainKind::uncore));
  EXPECT_FALSE(counts_in_total(DomainKind::psys));
  EXPECT_FALSE(counts_in_total(DomainKind::custom));
}

TEST(DomainTraits, StandInTheOrderOfTheirKinds) {
  std::size_t place = 0;
  for (const DomainTraits& traits : all_domain_traits()) {
    EXPECT_EQ(static_cast<std::size_t>(traits.kind), place++);
    EXPECT_EQ(to_string(traits.kind), traits.name);
  }
}

TEST(DomainTraits, DefaultPowersAreThoseOfTheDesign) {
  EXPECT_EQ(traits_of(DomainKind::package).max_power, Watts(2000.0));
  EXPECT_EQ(traits_of(DomainKind::dram).max_power, Watts(500.0));
  EXPECT_EQ(traits_of(DomainKind::psys).max_power, Watts(10000.0));
}

TEST(DomainTraits, WhatLiesInsideAPackageCannotExceedIt) {
  EXPECT_LE(traits_of(DomainKind::core).max_power, traits_of(DomainKind::package).max_power);
  EXPECT_LE(traits_of(DomainKind::uncore).max_power, traits_of(DomainKind::package).max_power);
}

TEST(DomainTraits, NameThePackageThatCoresLieIn) {
  EXPECT_EQ(parent_of(Domain::core(1).on_die(2)), Domain::package(1).on_die(2));
  EXPECT_EQ(parent_of(Domain::uncore(0)), Domain::package(0));
  EXPECT_EQ(parent_of(Domain::dram(0)), std::nullopt);
  EXPECT_EQ(parent_of(Domain::custom("hwmon", "psu_12v")), std::nullopt);
}

TEST(DomainKinds, AreASet) {
  constexpr DomainKinds kinds = {DomainKind::package, DomainKind::amd_gpu};
  static_assert(kinds.contains(DomainKind::amd_gpu) && !kinds.contains(DomainKind::intel_gpu));
  static_assert(kinds.has(DomainCategory::gpu) && !kinds.has(DomainCategory::other));
  static_assert(!kinds.overlaps({DomainKind::dram, DomainKind::custom}));
  static_assert(DomainKinds::all().contains(DomainKind::custom));
  static_assert(!DomainKinds().overlaps(DomainKinds::all()));
}

TEST(CustomDomain, IsNamedByItsSourceAndPart) {
  const Domain rail = Domain::custom("hwmon", "psu_12v");
  EXPECT_EQ(rail.name(), "hwmon_psu_12v");
  EXPECT_EQ(rail.kind(), DomainKind::custom);
  EXPECT_EQ(rail.category(), DomainCategory::other);
  EXPECT_FALSE(counts_in_total(rail.kind()));
}

TEST(CustomDomain, IsAnotherWhereItsNameIs) {
  const Domain rail = Domain::custom("hwmon", "psu_12v");
  EXPECT_EQ(rail, Domain::custom("hwmon", "psu_12v"));
  EXPECT_NE(rail, Domain::custom("hwmon", "psu_5v"));
  EXPECT_EQ(std::hash<Domain>{}(rail), std::hash<Domain>{}(Domain::custom("hwmon", "psu_12v")));
  EXPECT_NE(std::hash<Domain>{}(rail), std::hash<Domain>{}(Domain::custom("hwmon", "psu_5v")));
}

TEST(CustomDomain, ComesAfterAllOthersInTheOrderOfNames) {
  const Domain second = Domain::custom("hwmon", "b");  // named first
  const Domain first = Domain::custom("hwmon", "a");
  EXPECT_LT(Domain::psys(7), first);
  EXPECT_LT(first, second);
  EXPECT_FALSE(first < Domain::custom("hwmon", "a"));
}

TEST(CustomDomain, IsCopiedWithoutAllocating) {
  static_assert(std::is_trivially_copyable_v<Domain>);
}

TEST(CustomDomain, RefusesNamesThatAreNoPlainWords) {
  for (const char* source : {"", "Hwmon", "1hwmon", "hw_mon", "hw-mon"}) {
    EXPECT_THROW((void)Domain::custom(source, "psu"), InvalidArgument) << source;
  }
  for (const std::string& part : {std::string(), std::string("12 V"), std::string("psu\n"),
                                  std::string("PSU"), std::string(59, 'a')}) {
    EXPECT_THROW((void)Domain::custom("hwmon", part), InvalidArgument) << part;
  }
  EXPECT_EQ(Domain::custom("hwmon", std::string(58, 'a')).name().size(), 64U);
}

TEST(CustomDomain, RefusesTheNamesOfOtherKinds) {
  EXPECT_THROW((void)Domain::custom("package", "0"), InvalidArgument);
  EXPECT_THROW((void)Domain::custom("nvidia", "gpu_0"), InvalidArgument);
  EXPECT_THROW((void)Domain::custom("psys", "x"), InvalidArgument);
  EXPECT_EQ(Domain::custom("nvidia", "fan").name(), "nvidia_fan");
}

TEST(DomainParse, IsTheInverseOfTheName) {
  for (const Domain& domain :
       {Domain::package(0), Domain::package(4294967295), Domain::dram(1).on_die(0), Domain::core(0),
        Domain::uncore(2).on_die(3), Domain::nvidia_gpu(1), Domain::amd_gpu(0),
        Domain::intel_gpu(10), Domain::psys(), Domain::psys(1), Domain::custom("hwmon", "psu_12v"),
        Domain::custom("nvidia", "fan_0")}) {
    EXPECT_EQ(Domain::parse(domain.name()), domain) << domain.name();
  }
}

TEST(DomainParse, RefusesWhatIsNoName) {
  for (const char* text :
       {"", "package", "package_", "package_01", "package_-1", "package_4294967296", "package_0 ",
        "package_0_die", "package_0_die_", "package_0_die_x", "psys_0", "nvidia_gpu", "gpu", "_",
        "Package_0", "hwmon_", "hwmon_PSU", "dram_1x", "\x1b[1m_a"}) {
    EXPECT_THROW((void)Domain::parse(text), InvalidArgument) << text;
  }
}

/// What the tree shows, and no GPU that this machine may have.
System only(const fakes::PowercapTree& tree) {
  System system = tree.system();
  system.nvml_library = system.sysfs / "no-library.so";
  return system;
}

TEST(AvailableDomains, AreListedInOrderWhateverTheZonesNumbers) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "psys");
  tree.add_zone("intel-rapl:1", "package-1");
  tree.add_zone("intel-rapl:1:0", "dram");
  tree.add_zone("intel-rapl:2", "package-0");
  tree.add_zone("intel-rapl:2:0", "core");
  EXPECT_THAT(names_of(available_domains(only(tree))),
              ElementsAre("package_0", "package_1", "dram_1", "core_0", "psys"));
}

TEST(AvailableDomains, AreNoneWhereNothingCanBeRead) {
  const fakes::PowercapTree tree;
  EXPECT_THAT(available_domains(only(tree)), IsEmpty());
}

TEST(AvailableDomains, AreGivenByKind) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-1");
  tree.add_zone("intel-rapl:0:0", "dram");
  tree.add_zone("intel-rapl:1", "package-0");
  const System system = only(tree);
  EXPECT_THAT(names_of(available_domains(DomainKind::package, system)),
              ElementsAre("package_0", "package_1"));
  EXPECT_THAT(names_of(available_domains(DomainKind::dram, system)), ElementsAre("dram_1"));
  EXPECT_THAT(available_domains(DomainKind::core, system), IsEmpty());
  EXPECT_THAT(available_domains(DomainKind::nvidia_gpu, system), IsEmpty());
  EXPECT_THAT(available_domains(DomainKind::amd_gpu, system), IsEmpty());
}

}  // namespace
}  // namespace wattle
