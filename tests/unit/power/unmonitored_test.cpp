// What a power monitor says in the log about devices that it measures without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/clock.hpp"
#include "fakes/powercap_tree.hpp"
#include "heard_log.hpp"
#include "played_machine.hpp"
#include "power/selection.hpp"

namespace wattle::power_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

SensorRefusal unreadable(const Domain& domain, const std::string& reason) {
  return {.source = "played",
          .subject = domain.name(),
          .reason = reason,
          .remedy = "run as root",
          .domain = domain,
          .shows = {domain.kind()}};
}

/// A GPU and a package, beside what is refused.
class Unmonitored : public testing::Test {
 protected:
  void log_unmonitored(std::vector<SensorRefusal> refused, PowerMonitorOptions options = {}) {
    Survey found;
    found.sensors.push_back(instant_gpu(0, always(1), machine_clock()));
    found.sensors.push_back(package(1, 50.0, machine_clock()));
    found.refused = std::move(refused);
    const Selection selection = select(found, options);
    wattle::log_unmonitored(selection, found.refused, options);
  }
  const HeardLog log_;
};

TEST_F(Unmonitored, DomainsThatCannotBeReadAreNamedOnce) {
  for (int i = 0; i < 2; ++i) {
    log_unmonitored({unreadable(Domain::core(0), "permission denied (1)"),
                     unreadable(Domain::package(0), "permission denied (1)"),
                     unreadable(Domain::nvidia_gpu(1), "it fell off the bus")});
  }
  EXPECT_THAT(
      log_.messages(),
      ElementsAre(
          "power is measured without package_0: permission denied (1)\n  fix: run as root",
          "power is measured without nvidia_gpu_1: it fell off the bus\n  fix: run as root"));
}

TEST_F(Unmonitored, DevicesThatWereLeftOutAreNotNamed) {
  log_unmonitored({unreadable(Domain::package(0), "permission denied (2)"),
                   unreadable(Domain::nvidia_gpu(1), "it fell off the bus (2)")},
                  {.gpus = {0}, .cpus = false});
  EXPECT_THAT(log_.messages(), IsEmpty());
}

TEST_F(Unmonitored, TheCounterOfAGpuThatIsMeasuredByItsPowerIsNotMissed) {
  SensorRefusal counter = unreadable(Domain::nvidia_gpu(0), "it has no counter");
  counter.subject = "nvidia_gpu_0 energy";
  log_unmonitored({counter});
  EXPECT_THAT(log_.messages(), IsEmpty());
}

TEST_F(Unmonitored, WhatIsAbsentIsNotMissed) {
  SensorRefusal none{.source = "nvml", .subject = "NVIDIA GPUs", .reason = "there is none"};
  none.absent = true;
  none.scope = RefusalScope::interface;
  log_unmonitored({none});
  EXPECT_THAT(log_.messages(), IsEmpty());
}

TEST_F(Unmonitored, AGpuThatHasNoneOfThePowerDomainsAskedForIsNamed) {
  Survey found;
  std::vector<std::pair<PowerDomain, Script>> average;
  average.emplace_back(PowerDomain::device_average, always(1));
  found.sensors.push_back(instant_gpu(0, always(1), machine_clock()));
  found.sensors.push_back(std::make_unique<PlayedGpu>(1, std::move(average), machine_clock()));
  const PowerMonitorOptions options{.domains = std::vector{PowerDomain::device_instant}};
  const Selection selection = select(found, options);
  wattle::log_unmonitored(selection, found.refused, options);
  EXPECT_THAT(log_.messages(),
              ElementsAre("power is measured without GPU 1: GPU 1 has device_average"));
}

TEST_F(Unmonitored, AreNamedByWhoeverMakesAMonitor) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-0");
  tree.write_file("intel-rapl:0", "energy_uj", "nothing of this kind\n");
  tree.add_zone("intel-rapl:0:0", "dram", fakes::kServerDramUnit);
  const PowerMonitor monitor(PowerMonitorOptions{.system = tree.system()});
  EXPECT_THAT(monitor.cpu_domains(), ElementsAre(Domain::dram(0)));
  EXPECT_THAT(log_.messages(), ElementsAre(StartsWith("power is measured without package_0: ")));
}

}  // namespace
}  // namespace wattle::power_test
