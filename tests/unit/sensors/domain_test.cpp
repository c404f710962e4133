#include "wattle/domain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "fakes/powercap_tree.hpp"

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
