// The ways to CPU energy together: perf, then powercap; each domain through one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fakes/http_server.hpp"
#include "fakes/perf_pmu.hpp"
#include "fakes/powercap_tree.hpp"
#include "fakes/virtual_clock.hpp"
#include "sensors/perf/perf.hpp"
#include "sensors/powercap/powercap.hpp"
#include "sensors/providers.hpp"

namespace wattle {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Domains with the zone or event that they are read through.
std::map<std::string, std::string> places_of(const Survey& found) {
  std::map<std::string, std::string> places;
  for (const auto& sensor : found.sensors) {
    for (const Channel& channel : sensor->channels()) {
      places[channel.domain.name()] = channel.source;
    }
  }
  return places;
}

class CpuSources : public testing::Test {
 protected:
  CpuSources() {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.add_zone("intel-rapl:0:0", "dram");
  }
  fakes::PowercapTree tree_;
  fakes::VirtualClock clock_;
};

TEST_F(CpuSources, PowercapLeavesOutWhatIsTakenWithoutAWord) {
  const Survey found = powercap::probe(tree_.system(), clock_, {Domain::package(0)});
  EXPECT_THAT(places_of(found), ElementsAre(std::pair("dram_0", "powercap")));
  EXPECT_THAT(found.refused, IsEmpty());
  const Survey none =
      powercap::probe(tree_.system(), clock_, {Domain::package(0), Domain::dram(0)});
  EXPECT_THAT(none.sensors, IsEmpty());
  EXPECT_THAT(none.refused, IsEmpty());
}

TEST_F(CpuSources, PerfComesFirst) {
  ASSERT_THAT(providers(), SizeIs(testing::Ge(3U)));
  EXPECT_EQ(providers()[0].name, "perf");
  EXPECT_EQ(providers()[1].name, "powercap");
  EXPECT_EQ(providers()[2].name, "daemon");
}

TEST_F(CpuSources, PowercapIsUsedAndNothingIsMissingWhereThereIsNoPmu) {
  const Survey found = survey(tree_.system(), clock_);
  EXPECT_THAT(places_of(found), Each(testing::Pair(testing::_, "powercap")));
  EXPECT_THAT(found.refused, IsEmpty());
}

TEST_F(CpuSources, PowercapIsUsedForWhatPerfRefuses) {
  fakes::PerfPmu pmu(tree_.root());
  pmu.add_event("energy-pkg", fakes::kPackageEvent);
  pmu.write_file("events/energy-pkg.scale", "garbage\n");
  const Survey found = survey(tree_.system(), clock_);
  EXPECT_THAT(places_of(found),
              ElementsAre(std::pair("dram_0", "powercap"), std::pair("package_0", "powercap")));
  EXPECT_THAT(found.refused, IsEmpty()) << "all is measured";
}

/// A daemon that serves one package, beside the tree.
class CpuSourcesWithDaemon : public CpuSources {
 protected:
  [[nodiscard]] System system() const {
    System system = tree_.system();
    system.daemon_socket = socket_;
    return system;
  }

  std::string socket_ = (tree_.root() / "d.sock").string();
  fakes::HttpServer daemon_{
      [](const auto&, fakes::HttpPeer& peer) {
        peer.send(fakes::http_answer(200, R"({"0":{"cpu_energy_uj":5,"dram_energy_uj":6}})"));
      },
      socket_};
};

TEST_F(CpuSourcesWithDaemon, TheDaemonIsNotAskedWhereTheCountersCanBeRead) {
  const Survey found = survey(system(), clock_);
  EXPECT_THAT(places_of(found), Each(testing::Pair(testing::_, "powercap")));
  EXPECT_EQ(daemon_.connections(), 0U);
}

TEST_F(CpuSourcesWithDaemon, TheDaemonIsUsedForWhatNobodyElseMayReadAndNothingIsMissing) {
  for (const char* const zone : {"intel-rapl:0", "intel-rapl:0:0"}) {
    // Not to be read by anybody, root included.
    tree_.remove_file(zone, "energy_uj");
    std::filesystem::create_directory(tree_.zone_path(zone) / "energy_uj");
  }
  const Survey found = survey(system(), clock_);
  EXPECT_THAT(places_of(found),
              ElementsAre(std::pair("dram_0", "daemon"), std::pair("package_0", "daemon")));
  EXPECT_THAT(found.refused, IsEmpty());
}

TEST_F(CpuSourcesWithDaemon, TheDaemonIsAnotherWayWhereEachIsAsked) {
  const auto each = survey_each(system(), clock_);
  EXPECT_THAT(places_of(each.at(1)), Each(testing::Pair(testing::_, "powercap")));
  EXPECT_THAT(places_of(each.at(2)), Each(testing::Pair(testing::_, "daemon")));
}

TEST_F(CpuSources, AreAllReportedWhereEachIsAsked) {
  fakes::PerfPmu pmu(tree_.root());
  pmu.add_event("energy-pkg", fakes::kPackageEvent);
  pmu.write_file("events/energy-pkg.scale", "garbage\n");
  const std::vector<Survey> each = survey_each(tree_.system(), clock_);
  ASSERT_EQ(each.size(), providers().size());
  EXPECT_THAT(each[0].sensors, IsEmpty());
  EXPECT_THAT(each[0].refused, SizeIs(1));
  EXPECT_THAT(each[1].sensors, Not(IsEmpty()));
}

TEST_F(CpuSources, ACounterThatIsThereTwiceIsNoLoss) {
  tree_.add_zone("intel-rapl-mmio:0", "package-0");
  EXPECT_THAT(survey(tree_.system(), clock_).refused, IsEmpty());
}

/// Linux 6.9 to 6.11 makes a zone for each core complex of an AMD package; all show one register.
TEST_F(CpuSources, AnAMDPackageIsCountedOnceWhereItsCoreComplexesHaveZones) {
  fakes::PowercapTree amd;
  amd.set_cpu_info("vendor_id\t: AuthenticAMD\nflags\t\t: fpu msr\n\n");
  amd.add_zone("intel-rapl:0", "package-0-die-0");
  amd.add_zone("intel-rapl:1", "package-0-die-1");
  amd.add_zone("intel-rapl:2", "package-1-die-0");
  const Survey found = survey(amd.system(), clock_);
  EXPECT_THAT(places_of(found),
              ElementsAre(std::pair("package_0", "powercap"), std::pair("package_1", "powercap")));
  EXPECT_THAT(found.refused, IsEmpty());
}

TEST_F(CpuSources, AVirtualMachineIsWhatIsSaidWhereBothShowNothing) {
  fakes::PowercapTree empty;
  empty.set_cpu_info("vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n\n");
  const Survey found = survey(empty.system(), clock_);
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_EQ(found.refused[0].reason,
            "this is a virtual machine; the host does not expose energy counters to it");
}

}  // namespace
}  // namespace wattle
