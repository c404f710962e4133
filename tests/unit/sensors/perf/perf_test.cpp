#include "sensors/perf/perf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fakes/perf_pmu.hpp"
#include "fakes/powercap_tree.hpp"
#include "fakes/unprivileged.hpp"
#include "fakes/virtual_clock.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::perf {
namespace {

using fakes::kCoresEvent;
using fakes::kGpuEvent;
using fakes::kPackageEvent;
using fakes::kPsysEvent;
using fakes::kRamEvent;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::string_view kAmdServer =
    "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu msr\n\n";

constexpr std::string_view kVirtualMachine =
    "vendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t\t: fpu "
    "hypervisor\n\n";

/// Each test builds a PMU, then probes it.
class PerfProbe : public testing::Test {
 protected:
  PerfProbe() { pmu_.add_event("energy-pkg", kPackageEvent); }

  void probe_tree(const std::set<Domain>& taken = {}) {
    found_ = probe(tree_.system(), clock_, taken, events_.calls());
  }
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
  [[nodiscard]] const Channel& channel(const Domain& domain) const {
    for (const auto& sensor : found_.sensors) {
      for (const Channel& channel : sensor->channels()) {
        if (channel.domain == domain) return channel;
      }
    }
    throw std::out_of_range("not found: " + domain.name());
  }
  [[nodiscard]] const SensorRefusal& only_refusal() const {
    if (found_.refused.size() != 1) throw std::out_of_range("not one refusal");
    return found_.refused.front();
  }

  fakes::PowercapTree tree_;  ///< with the processor of an Intel server, without zones
  fakes::PerfPmu pmu_{tree_.root()};
  fakes::FakeEvents events_;
  fakes::VirtualClock clock_;
  Survey found_;
};

TEST_F(PerfProbe, FindsEveryEventOfAPackage) {
  pmu_.add_event("energy-psys", kPsysEvent);
  pmu_.add_event("energy-gpu", kGpuEvent);
  pmu_.add_event("energy-cores", kCoresEvent);
  pmu_.add_event("energy-ram", kRamEvent);
  probe_tree();
  EXPECT_THAT(devices(),
              ElementsAre(ElementsAre("package_0", "dram_0", "core_0", "uncore_0", "psys")));
  EXPECT_THAT(found_.refused, IsEmpty());
  EXPECT_EQ(channel(Domain::core(0)).contained_in, Domain::package(0));
  EXPECT_EQ(channel(Domain::uncore(0)).contained_in, Domain::package(0));
  EXPECT_EQ(channel(Domain::dram(0)).contained_in, std::nullopt);
  EXPECT_EQ(channel(Domain::psys()).contained_in, std::nullopt);
}

TEST_F(PerfProbe, DescribesAChannel) {
  probe_tree();
  const Channel& package = channel(Domain::package(0));
  EXPECT_EQ(package.source, "perf");
  EXPECT_EQ(package.place, "power/energy-pkg/ on CPU 0");
  EXPECT_EQ(package.counter.tick.si(), 1.0 / 65536.0);
  EXPECT_EQ(package.counter.modulus, 0U) << "64 bits do not wrap";
  EXPECT_EQ(package.counter.followed_ticks, std::uint64_t{1} << 31U);
  EXPECT_EQ(package.counter.max_power, traits_of(DomainKind::package).max_power);
  EXPECT_EQ(package.update.mean, kRaplUpdate.mean);
}

TEST_F(PerfProbe, CountsEveryPackageOnItsOwnCpu) {
  pmu_.write_file("cpumask", "0,18\n");
  pmu_.place_cpu(18, 1);
  pmu_.add_event("energy-ram", kRamEvent);
  probe_tree();
  EXPECT_THAT(devices(),
              ElementsAre(ElementsAre("package_0", "dram_0"), ElementsAre("package_1", "dram_1")));
  EXPECT_EQ(channel(Domain::dram(1)).place, "power/energy-ram/ on CPU 18");
  EXPECT_THAT(events_.opened(), Each(Field(&fakes::FakeEvents::Opened::type, pmu_.kType)));
  ASSERT_THAT(events_.opened(), SizeIs(4));
  EXPECT_EQ(events_.opened()[3].cpu, 18);
  EXPECT_EQ(events_.opened()[3].config, kRamEvent);
}

TEST_F(PerfProbe, OpensTheEventsOfAPackageAsOneGroup) {
  pmu_.add_event("energy-ram", kRamEvent);
  probe_tree();
  ASSERT_THAT(events_.opened(), SizeIs(2));
  EXPECT_EQ(events_.opened()[0].group, -1);
  EXPECT_NE(events_.opened()[1].group, -1);
  EXPECT_EQ(events_.opened()[0].read_format, events_.opened()[1].read_format);
  EXPECT_NE(events_.opened()[0].read_format & PERF_FORMAT_GROUP, 0U);
  std::vector<Reading> readings(2);
  found_.sensors[0]->read(readings);
  EXPECT_EQ(events_.reads(), 1);
}

TEST_F(PerfProbe, ReadsEventsOneByOneWhereTheKernelAllowsNoGroups) {
  events_.refuse_groups();
  pmu_.add_event("energy-ram", kRamEvent);
  events_.set_count(0, kRamEvent, 9U << 16U);
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0", "dram_0")));
  std::vector<Reading> readings(2);
  found_.sensors[0]->read(readings);
  EXPECT_EQ(events_.reads(), 2);
  EXPECT_EQ(readings[1].raw, 9U);
}

TEST_F(PerfProbe, DistinguishesDiesWhereASocketHasSeveral) {
  pmu_.write_file("cpumask", "0,24,48\n");
  pmu_.place_cpu(0, 0, 0);
  pmu_.place_cpu(24, 0, 1);
  pmu_.place_cpu(48, 1, 0);  // its other die is offline
  pmu_.add_event("energy-cores", kCoresEvent);
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0_die_0", "core_0_die_0"),
                                     ElementsAre("package_0_die_1", "core_0_die_1"),
                                     ElementsAre("package_1_die_0", "core_1_die_0")));
  EXPECT_EQ(channel(Domain::core(0).on_die(1)).contained_in, Domain::package(0).on_die(1));
}

TEST_F(PerfProbe, CountsThePlatformOncePerSocketNotPerDie) {
  pmu_.write_file("cpumask", "0,24,48\n");
  pmu_.place_cpu(24, 0, 1);
  pmu_.place_cpu(48, 1, 0);
  pmu_.add_event("energy-psys", kPsysEvent);
  probe_tree();
  EXPECT_THAT(devices(),
              ElementsAre(ElementsAre("package_0_die_0", "psys"), ElementsAre("package_0_die_1"),
                          ElementsAre("package_1_die_0", "psys_1")));
}

TEST_F(PerfProbe, CountsAnAMDPackageOnceWhereTheKernelListsItsCoreComplexes) {
  tree_.set_cpu_info(kAmdServer);
  pmu_.write_file("cpumask", "0,8,16,24\n");
  pmu_.place_cpu(0, 0, 0);
  pmu_.place_cpu(8, 0, 1);
  pmu_.place_cpu(16, 1, 0);
  pmu_.place_cpu(24, 1, 1);
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0"), ElementsAre("package_1")));
  EXPECT_THAT(found_.refused, IsEmpty());
}

TEST_F(PerfProbe, RefusesTheSumOfAMDCores) {
  tree_.set_cpu_info(kAmdServer);
  std::filesystem::create_directories(pmu_.path().parent_path() / "power_core");
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0")));
  EXPECT_EQ(only_refusal().domain, Domain::core(0));
  EXPECT_THAT(only_refusal().reason, HasSubstr("each core by itself"));
  EXPECT_THAT(only_refusal().proof, HasSubstr("power_core"));
}

TEST_F(PerfProbe, LeavesOutWhatIsTakenWithoutAWord) {
  pmu_.add_event("energy-ram", kRamEvent);
  probe_tree({Domain::package(0)});
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("dram_0")));
  EXPECT_THAT(found_.refused, IsEmpty());
}

TEST_F(PerfProbe, WithoutAPmuSaysThatThereMayBeAnotherWay) {
  std::filesystem::remove_all(pmu_.path());
  probe_tree();
  EXPECT_THAT(found_.sensors, IsEmpty());
  EXPECT_EQ(only_refusal().scope, RefusalScope::spare);
  EXPECT_EQ(only_refusal().subject, "CPU energy");
  EXPECT_THAT(only_refusal().proof, HasSubstr(pmu_.path().string()));
  EXPECT_THAT(only_refusal().remedy, HasSubstr("modprobe rapl"));
  EXPECT_THAT(events_.opened(), IsEmpty());
}

TEST_F(PerfProbe, WithoutPermissionRefusesEachDomainWithTheWaysOut) {
  tree_.write_proc("sys/kernel/perf_event_paranoid", "2\n");
  tree_.write_proc("sys/kernel/osrelease", "6.1.0-18-amd64\n");
  pmu_.add_event("energy-ram", kRamEvent);
  std::filesystem::permissions(tree_.root(), std::filesystem::perms(0755));
  events_.fail_to_open(EACCES);
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become another user here";
  probe_tree();
  EXPECT_THAT(found_.sensors, IsEmpty());
  ASSERT_THAT(found_.refused, SizeIs(2));
  EXPECT_EQ(found_.refused[0].domain, Domain::package(0));
  EXPECT_EQ(found_.refused[1].domain, Domain::dram(0));
  EXPECT_EQ(found_.refused[0].reason, found_.refused[1].reason);
  EXPECT_THAT(found_.refused[0].proof, HasSubstr("kernel.perf_event_paranoid is 2"));
  EXPECT_THAT(found_.refused[0].remedy, HasSubstr("wattle doctor --fix cpu"));
}

TEST_F(PerfProbe, TriesToOpenWhateverTheSysctlSays) {
  tree_.write_proc("sys/kernel/perf_event_paranoid", "4\n");
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0")));
}

TEST_F(PerfProbe, RefusesThePackageWhoseCpuIsOffline) {
  pmu_.write_file("cpumask", "0,18\n");
  pmu_.place_cpu(18, 1);
  events_.fail_to_open_on(18, ENODEV);
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0")));
  EXPECT_EQ(only_refusal().domain, Domain::package(1));
  EXPECT_THAT(only_refusal().reason, HasSubstr("No such device"));
}

/// As a virtual machine with an H100 shows it (Linux 6.18, KVM): the counter never moves there.
TEST(PerfProbeInAVirtualMachine, RefusesACounterOfThePlatformAlone) {
  fakes::PowercapTree tree;
  fakes::PerfPmu pmu(tree.root());
  pmu.add_event("energy-psys", kPsysEvent);
  fakes::FakeEvents events;
  const fakes::VirtualClock clock;
  for (const bool is_virtual : {false, true}) {
    tree.set_cpu_info(is_virtual ? kVirtualMachine : kAmdServer);
    const Survey found = probe(tree.system(), clock, {}, events.calls());
    EXPECT_THAT(found.sensors, SizeIs(is_virtual ? 0 : 1));
    EXPECT_THAT(found.refused, SizeIs(is_virtual ? 1 : 0));
    if (is_virtual) {
      EXPECT_THAT(found.refused[0].reason, HasSubstr("virtual machine"));
    }
  }
}

TEST_F(PerfProbe, RefusesTheEventThatTheKernelDoesNotCount) {
  pmu_.add_event("energy-ram", kRamEvent);
  pmu_.add_event("energy-psys", kPsysEvent);
  events_.fail_to_open_event(kRamEvent, EINVAL);
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0", "psys")));
  EXPECT_EQ(only_refusal().domain, Domain::dram(0));
}

TEST_F(PerfProbe, RefusesAnEventWithGarbageInAFile) {
  const std::vector<std::pair<std::string, std::string>> garbage = {
      {"energy-ram", "config1=0x3"},
      {"energy-ram.scale", "one"},
      {"energy-ram.scale", ""},
      {"energy-ram.unit", "Watts\x1b[2J"}};
  for (const auto& [file, content] : garbage) {
    pmu_.add_event("energy-ram", kRamEvent);
    pmu_.write_file("events/" + file, content);
    probe_tree();
    EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0"))) << file;
    EXPECT_EQ(only_refusal().domain, Domain::dram(0)) << file;
    EXPECT_THAT(only_refusal().proof, HasSubstr(file));
    EXPECT_THAT(only_refusal().proof, Not(HasSubstr("\x1b")));
  }
}

TEST_F(PerfProbe, RefusesAnEventWithoutAScale) {
  pmu_.remove_file("events/energy-pkg.scale");
  probe_tree();
  EXPECT_EQ(only_refusal().domain, Domain::package(0));
  EXPECT_THAT(only_refusal().proof, HasSubstr("No such file"));
}

TEST_F(PerfProbe, RefusesAPmuWithGarbageInAFile) {
  for (const char* file : {"type", "cpumask"}) {
    for (const char* content : {"", "\n", "-1\n", "x\n", "99999999999999999999\n"}) {
      fakes::PowercapTree tree;
      const fakes::PerfPmu pmu(tree.root());
      pmu.add_event("energy-pkg", kPackageEvent);
      pmu.write_file(file, content);
      found_ = probe(tree.system(), clock_, {}, events_.calls());
      EXPECT_THAT(found_.sensors, IsEmpty()) << file << content;
      EXPECT_EQ(only_refusal().scope, RefusalScope::interface) << file << content;
      EXPECT_THAT(only_refusal().proof, HasSubstr(file));
    }
  }
}

TEST_F(PerfProbe, RefusesAPmuWithoutEvents) {
  std::filesystem::remove_all(pmu_.path() / "events");
  probe_tree();
  EXPECT_THAT(only_refusal().reason, HasSubstr("offers no energy event"));
}

TEST_F(PerfProbe, RefusesACpuWhosePackageIsNotKnown) {
  pmu_.write_file("cpumask", "0,18\n");  // no topology of CPU 18
  probe_tree();
  EXPECT_THAT(devices(), ElementsAre(ElementsAre("package_0")));
  EXPECT_EQ(only_refusal().subject, "CPU 18");
  EXPECT_THAT(only_refusal().proof, HasSubstr("cpu18/topology/physical_package_id"));
}

TEST_F(PerfProbe, ACpuWhosePackageIsNotKnownMayBeOneMorePackage) {
  pmu_.write_file("cpumask", "0,18\n");
  probe_tree();
  EXPECT_THAT(only_refusal().hidden.kinds, ElementsAre(DomainKind::package));
  EXPECT_EQ(only_refusal().hidden.expected, 2U);
}

TEST_F(PerfProbe, ClosesItsEventsWithTheSensor) {
  const auto open_descriptors = [] {
    using Entries = std::filesystem::directory_iterator;
    return std::distance(Entries("/proc/self/fd"), Entries());
  };
  pmu_.add_event("energy-ram", kRamEvent);
  const auto before = open_descriptors();
  probe_tree();
  EXPECT_EQ(open_descriptors(), before + 2);
  found_ = {};
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace wattle::perf
