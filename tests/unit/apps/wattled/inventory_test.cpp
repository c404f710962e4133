// The numbers of the devices that the daemon serves. Those of CPUs are those of powercap's zones,
// whoever reads the counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"
#include "serve/service.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DeviceNumbers : public testing::Test {
 protected:
  /// A sensor for each domain, as perf finds them: without a look at zones.
  [[nodiscard]] Survey found(const std::vector<Domain>& domains) {
    Survey survey;
    for (const Domain& domain : domains) {
      std::vector<fakes::ScriptedCounter> counters{
          fakes::constant_power(fakes::counter_channel(domain), Watts(50.0), clock_.now())};
      survey.sensors.push_back(
          std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    }
    return survey;
  }
  /// "2: package_1 dram_1", by number.
  [[nodiscard]] std::vector<std::string> numbers(const std::vector<Domain>& domains,
                                                 const std::vector<CpuZone>& zones) {
    Inventory inventory = take_inventory(found(domains), {TokenScope::cpu_read}, zones);
    const Cpus cpus(std::move(inventory.cpu_sensors), inventory.cpus);
    std::vector<std::string> numbers;
    for (const wire::CpuEntry& entry : cpus.entries()) {
      const auto [cpu, dram] = cpus.channels(entry.id);
      EXPECT_EQ(entry.domain, cpu->domain.name());
      EXPECT_EQ(entry.dram_available, dram != nullptr);
      numbers.push_back(std::to_string(entry.id) + ": " + entry.domain);
      if (dram != nullptr) numbers.back() += " " + dram->domain.name();
    }
    return numbers;
  }

  fakes::VirtualClock clock_;
  const std::vector<Domain> two_{Domain::package(0), Domain::dram(0), Domain::package(1),
                                 Domain::dram(1), Domain::psys()};
};

TEST_F(DeviceNumbers, OfCpusAreThoseOfTheZones) {
  EXPECT_THAT(
      numbers(two_, {{0, Domain::package(0)}, {1, Domain::psys()}, {2, Domain::package(1)}}),
      ElementsAre("0: package_0 dram_0", "1: psys", "2: package_1 dram_1"));
  EXPECT_THAT(
      numbers(two_, {{0, Domain::package(1)}, {1, Domain::package(0)}, {2, Domain::psys()}}),
      ElementsAre("0: package_1 dram_1", "1: package_0 dram_0", "2: psys"));
}

TEST_F(DeviceNumbers, OfDiesAreThoseOfTheirZones) {
  const Domain first = Domain::package(0).on_die(0);
  const Domain second = Domain::package(0).on_die(1);
  EXPECT_THAT(numbers({first, second, second.as(DomainKind::dram)}, {{0, second}, {1, first}}),
              ElementsAre("0: package_0_die_1 dram_0_die_1", "1: package_0_die_0"));
}

TEST_F(DeviceNumbers, FollowThePackagesWhereThereAreNoZonesThePlatformLast) {
  EXPECT_THAT(numbers({Domain::psys(), Domain::package(3), Domain::package(1)}, {}),
              ElementsAre("0: package_1", "1: package_3", "2: psys"));
}

TEST_F(DeviceNumbers, OfWhatHasNoZoneComeAfterTheZones) {
  EXPECT_THAT(numbers(two_, {{5, Domain::package(1)}}),
              ElementsAre("5: package_1 dram_1", "6: package_0 dram_0", "7: psys"));
}

TEST_F(DeviceNumbers, OfZonesThatNobodyReadsAreLeftOut) {
  EXPECT_THAT(numbers({Domain::package(1)}, {{0, Domain::package(0)}, {1, Domain::package(1)}}),
              ElementsAre("1: package_1"));
  EXPECT_THAT(numbers({}, {{0, Domain::package(0)}}), IsEmpty());
}

TEST_F(DeviceNumbers, MayShareACounter) {
  EXPECT_THAT(numbers({Domain::package(0)}, {{0, Domain::package(0)}, {1, Domain::package(0)}}),
              ElementsAre("0: package_0", "1: package_0"));
}

TEST_F(DeviceNumbers, AreThoseOfCpusAlone) {
  const std::vector<Domain> domains{Domain::dram(0), Domain::package(1), Domain::dram(1),
                                    Domain::package(1).as(DomainKind::core)};
  const std::vector<CpuZone> zones{{0, Domain::package(0)}, {1, Domain::package(1)}};
  EXPECT_THAT(numbers(domains, zones), ElementsAre("1: package_1 dram_1"));
  Inventory inventory = take_inventory(found(domains), {TokenScope::cpu_read}, zones);
  Cpus cpus(std::move(inventory.cpu_sensors), inventory.cpus);
  ASSERT_THAT(cpus.all_ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(cpus.channels(2).first->domain, Domain::dram(0));
  EXPECT_TRUE(cpus.read({2}).at(2).cpu.is_known);
}

TEST_F(DeviceNumbers, OfGpusThatAreFoundLaterComeAfterThoseThatAreServed) {
  VirtualLoop loop;
  const ServiceOptions options;
  Service service(take_inventory(found({Domain::amd_gpu(0)}), options.enabled, {}), loop, options);
  ASSERT_THAT(service.gpus().ids(), ElementsAre(0));
  service.add(found({Domain::nvidia_gpu(0), Domain::nvidia_gpu(1)}));
  ASSERT_THAT(service.gpus().ids(), ElementsAre(0, 1, 2)) << "each has a number of its own";
  EXPECT_EQ(gpu_domain_of(service.gpus().sensor(0)), Domain::amd_gpu(0));
  EXPECT_EQ(gpu_domain_of(service.gpus().sensor(2)), Domain::nvidia_gpu(1));
}

}  // namespace
}  // namespace wattle::daemon
