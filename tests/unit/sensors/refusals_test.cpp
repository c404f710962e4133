#include "sensors/refusals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Domain kPackage = Domain::package(0);
const Domain kDram = Domain::dram(0);

SensorRefusal of_domain(std::string source, const Domain& domain, std::string remedy = "") {
  return {.source = std::move(source),
          .subject = domain.name(),
          .remedy = std::move(remedy),
          .domain = domain,
          .shows = {domain.kind()}};
}

SensorRefusal of_all(std::string source, RefusalScope scope, DomainKinds shows = kProcessorKinds) {
  return {.source = std::move(source), .subject = "everything", .scope = scope, .shows = shows};
}

/// "source: subject" of what is told.
std::vector<std::string> told(std::vector<SensorRefusal> refused,
                              const std::set<Domain>& read = {}) {
  std::vector<std::string> told;
  for (const SensorRefusal& refusal : worth_reporting(std::move(refused), read)) {
    told.push_back(refusal.source + ": " + refusal.subject);
  }
  return told;
}

TEST(WorthReporting, IsNotADomainThatIsReadThroughAnotherInterface) {
  EXPECT_THAT(told({of_domain("perf", kPackage), of_domain("perf", kDram)}, {kPackage}),
              ElementsAre("perf: dram_0"));
}

TEST(WorthReporting, IsOneCauseForEachDomain) {
  EXPECT_THAT(told({of_domain("perf", kPackage, "setcap"), of_domain("perf", kDram, "setcap"),
                    of_domain("powercap", kPackage, "chmod"), of_domain("powercap", kDram)}),
              ElementsAre("perf: package_0", "perf: dram_0"));
}

TEST(WorthReporting, IsTheCauseThatHasARemedy) {
  EXPECT_THAT(told({of_domain("perf", kPackage), of_domain("powercap", kPackage, "chmod")}),
              ElementsAre("powercap: package_0"));
}

SensorRefusal of_place(std::size_t expected) {
  SensorRefusal refusal = of_all("powercap", RefusalScope::part);
  refusal.hidden = {.kinds = {DomainKind::package}, .expected = expected};
  return refusal;
}

TEST(WorthReporting, IsAPlaceThatMayBeAPackage) {
  EXPECT_THAT(told({of_place(2)}, {kPackage}), ElementsAre("powercap: everything"));
}

TEST(WorthReporting, IsNotAPlaceThatMayBeAPackageIfAllPackagesAreKnown) {
  EXPECT_THAT(told({of_place(2)}, {kPackage, Domain::package(1)}), IsEmpty());
}

TEST(WorthReporting, IsAPlaceThatMayBeAPackageIfTheNumberOfPackagesIsUnknown) {
  EXPECT_THAT(told({of_place(0)}, {kPackage}), ElementsAre("powercap: everything"));
}

TEST(WorthReporting, IsNotAnInterfaceThatShowsNothingWhereAnotherOneIsRead) {
  EXPECT_THAT(told({of_all("powercap", RefusalScope::interface)}, {kPackage}), IsEmpty());
}

TEST(WorthReporting, IsNotAnInterfaceThatShowsNothingWhereAnotherOneNamesTheDomains) {
  EXPECT_THAT(told({of_domain("perf", kPackage), of_all("powercap", RefusalScope::interface)}),
              ElementsAre("perf: package_0"));
}

TEST(WorthReporting, IsAnInterfaceThatShowsNothingWhereAnotherOneShowsThePlatformAlone) {
  EXPECT_THAT(told({of_all("powercap", RefusalScope::interface)}, {Domain::psys()}),
              ElementsAre("powercap: everything"));
}

TEST(WorthReporting, IsAnInterfaceThatShowsNothingWhereNoneShowsAnything) {
  EXPECT_THAT(
      told({of_all("perf", RefusalScope::spare), of_all("powercap", RefusalScope::interface)}),
      ElementsAre("powercap: everything"));
}

TEST(WorthReporting, IsASpareWayOnlyWhereNothingElseIsSaid) {
  EXPECT_THAT(told({of_all("perf", RefusalScope::spare)}), ElementsAre("perf: everything"));
  EXPECT_THAT(told({of_all("perf", RefusalScope::spare)}, {kPackage}), IsEmpty());
}

TEST(WorthReporting, IsAPlaceThatNobodyUnderstands) {
  EXPECT_THAT(told({of_all("powercap", RefusalScope::part)}, {kPackage}),
              ElementsAre("powercap: everything"));
}

TEST(WorthReporting, KeepsDevicesOfOtherKindsApart) {
  EXPECT_THAT(told({of_all("nvml", RefusalScope::interface, {DomainKind::nvidia_gpu})},
                   {kPackage, Domain::amd_gpu(0)}),
              ElementsAre("nvml: everything"));
}

TEST(KnowsAllGpus, WhereNoInterfaceHidesAny) {
  EXPECT_TRUE(knows_all_gpus({}));
  EXPECT_TRUE(knows_all_gpus({of_all("perf", RefusalScope::interface)}));
  EXPECT_TRUE(knows_all_gpus({of_domain("nvml", Domain::nvidia_gpu(0))})) << "it is known";
  SensorRefusal absent =
      of_all("drm", RefusalScope::interface, {DomainKind::amd_gpu, DomainKind::intel_gpu});
  absent.absent = true;
  EXPECT_TRUE(knows_all_gpus({absent})) << "there is none";
}

TEST(KnowsAllGpus, NotWhereAnInterfaceIsBroken) {
  EXPECT_FALSE(knows_all_gpus({of_all("nvml", RefusalScope::interface, {DomainKind::nvidia_gpu})}));
}

TEST(ByCause, PutsSubjectsOfOneCauseTogether) {
  const std::vector<SharedCause> causes =
      by_cause({of_domain("perf", kPackage, "setcap"), of_domain("powercap", kPackage, "chmod"),
                of_domain("perf", kDram, "setcap")});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_THAT(causes[0].subjects, ElementsAre("package_0", "dram_0"));
  EXPECT_EQ(causes[0].refusal.remedy, "setcap");
  EXPECT_THAT(causes[1].subjects, ElementsAre("package_0"));
}

TEST(Refusals, OfADaemonDoNotMatterWhereProcessorsAreRead) {
  const SensorRefusal daemon{.source = "daemon", .subject = "CPU energy", .reason = "not running"};
  EXPECT_TRUE(worth_reporting({daemon}, {Domain::package(0)}).empty());
  EXPECT_EQ(worth_reporting({daemon}, {}).size(), 1U);
  EXPECT_EQ(worth_reporting({daemon}, {Domain::nvidia_gpu(0), Domain::psys()}).size(), 1U);
}

TEST(Refusals, OfACounterMatterOnlyWhereNoEnergyIsReported) {
  const SensorRefusal counter{.source = "nvml", .subject = "nvidia_gpu_1 energy"};
  EXPECT_TRUE(is_of_counter(counter, {Domain::nvidia_gpu(0), Domain::nvidia_gpu(1)}));
  EXPECT_FALSE(is_of_counter(counter, {Domain::nvidia_gpu(0)}));
  EXPECT_FALSE(
      is_of_counter({.source = "nvml", .subject = "nvidia_gpu_1"}, {Domain::nvidia_gpu(1)}));
}

}  // namespace
}  // namespace wattle
