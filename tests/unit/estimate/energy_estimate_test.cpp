#include "estimate/energy_estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "estimate/machine_power.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

constexpr std::string_view kTurin =
    "processor : 0\nvendor_id : AuthenticAMD\ncpu family : 26\nmodel : 2\nflags : hypervisor\n";

Microarchitecture turin() { return recognize(parse_processors(kTurin)); }

/// Of 8 threads in 10 s.
CpuLoad load_of(double busy, double stolen = 0.0) {
  CpuLoad load{.threads = 8.0, .available = Seconds(80.0 * (1.0 - stolen)), .stolen_part = stolen};
  load.busy = load.available * busy;
  return load;
}

/// A virtual machine of 4 cores.
constexpr MachineSize kSize = {.threads = 8, .cores = 4, .is_virtual = true};

MachinePower turin_power() { return machine_power(turin(), kSize); }

EnergyEstimate estimate(const CpuLoad& load, std::optional<Seconds> own = {}) {
  return estimate_energy(turin(), kSize, load, own);
}

TEST(EnergyEstimate, OfAnIdleMachineIsItsIdlePower) {
  const EnergyEstimate idle = estimate(load_of(0.0));
  EXPECT_NEAR(idle.machine->low.si(), 80.0 * turin_power().idle.low, 1e-9);
  EXPECT_NEAR(idle.machine->typical.si(), 80.0 * turin_power().idle.typical, 1e-9);
  EXPECT_NEAR(idle.machine->high.si(), 80.0 * turin_power().idle.high, 1e-9);
}

TEST(EnergyEstimate, OfAFullMachineIsAtLeastItsFullPower) {
  const EnergyEstimate full = estimate(load_of(1.0));
  EXPECT_NEAR(full.machine->low.si(), 80.0 * turin_power().full.low, 1e-9);
  EXPECT_NEAR(full.machine->typical.si(), 80.0 * turin_power().full.typical, 1e-9);
  EXPECT_GE(full.machine->high.si(), 80.0 * turin_power().full.high);
}

TEST(EnergyEstimate, IsWithinAFactorOfSixAtEachLoad) {
  for (double load = 0.0; load <= 1.0; load += 0.05) {
    const EnergyRange range = *estimate(load_of(load)).machine;
    EXPECT_LE(range.high.si(), 6.0 * range.low.si()) << load;
  }
}

TEST(EnergyEstimate, GrowsWithTheLoadAndStaysInOrder) {
  EnergyRange last{};
  for (double load = 0.0; load <= 1.0; load += 0.05) {
    const EnergyRange range = *estimate(load_of(load)).machine;
    EXPECT_LE(range.low, range.typical);
    EXPECT_LE(range.typical, range.high);
    EXPECT_GE(range.low, last.low);
    EXPECT_GE(range.typical, last.typical);
    EXPECT_GE(range.high, last.high);
    last = range;
  }
}

TEST(EnergyEstimate, OfTheOnlyLoadIsWhatItAddsToIdle) {
  const EnergyEstimate alone = estimate(load_of(0.25), Seconds(20.0));
  const PowerRange above = turin_power().above;
  EXPECT_NEAR(alone.own->low.si(), 80.0 * above.low * active_part(0.25, kLowExponent), 1e-9);
  EXPECT_NEAR(alone.own->typical.si(), 80.0 * above.typical * active_part(0.25, kTypicalExponent),
              1e-9);
  const double high_j = 80.0 * above.high * kHighScale * active_part(0.25, kHighExponent);
  EXPECT_NEAR(alone.own->high.si(), std::min(high_j, alone.machine->high.si()), 1e-9);
}

TEST(EnergyEstimate, OfAPartStaysBelowTheMachines) {
  for (double all = 0.1; all <= 1.0; all += 0.1) {
    for (double part = 0.0; part <= 1.0; part += 0.1) {
      const EnergyEstimate both = estimate(load_of(all), Seconds(80.0 * all * part));
      EXPECT_LE(both.own->low, both.own->typical);
      EXPECT_LE(both.own->typical, both.own->high);
      EXPECT_LE(both.own->typical, both.machine->typical);
      EXPECT_LE(both.own->high, both.machine->high);
    }
  }
}

TEST(EnergyEstimate, OfNoCpuTimeIsNothing) {
  const EnergyEstimate none = estimate(load_of(0.5), Seconds(0));
  EXPECT_EQ(none.own->high.si(), 0.0);
  EXPECT_FALSE(estimate(load_of(0.5)).own);
}

TEST(EnergyEstimate, LeavesStolenTimeToOthers) {
  const EnergyEstimate stolen = estimate(load_of(1.0, 0.9));
  EXPECT_NEAR(stolen.machine->typical.si(), 8.0 * turin_power().full.typical, 1e-9);
  EXPECT_NE(stolen.covers.find("90 % of their time"), std::string::npos) << stolen.covers;
}

TEST(EnergyEstimate, NamesNoStolenTimeThatIsNoPercent) {
  for (const double stolen : {0.0, 0.001, 0.00499}) {
    EXPECT_EQ(estimate(load_of(1.0, stolen)).covers.find("stolen"), std::string::npos) << stolen;
  }
  for (const double stolen : {0.005, 0.0051, 0.0149}) {
    EXPECT_NE(estimate(load_of(1.0, stolen)).covers.find(" 1 % of"), std::string::npos) << stolen;
  }
}

TEST(EnergyEstimate, OfMoreCpuTimeThanThereWasStaysInBounds) {
  const EnergyEstimate much = estimate(load_of(0.5), Seconds(1e9));
  EXPECT_LE(much.own->high, much.machine->high);
}

TEST(EnergyEstimate, OfRunsIsTheirMean) {
  const std::vector<EnergyEstimate> runs = {estimate(load_of(0.0), Seconds(0)),
                                            estimate(load_of(1.0), Seconds(80.0))};
  const auto mean = mean_of(runs);
  ASSERT_TRUE(mean && mean->machine && mean->own);
  EXPECT_DOUBLE_EQ(mean->machine->high.si(),
                   (runs[0].machine->high + runs[1].machine->high).si() / 2.0);
  EXPECT_DOUBLE_EQ(mean->own->typical.si(), runs[1].own->typical.si() / 2.0);
  EXPECT_DOUBLE_EQ(mean->mean_load, 0.5);
  EXPECT_FALSE(mean_of({}));
}

TEST(EnergyEstimate, OfRunsIsUnknownWhereOneIs) {
  const std::vector<EnergyEstimate> runs = {estimate(load_of(0.5)), {.unknown = "no clock"}};
  EXPECT_EQ(mean_of(runs)->unknown, "no clock");
  EXPECT_FALSE(mean_of(runs)->machine);
}

/// The RAPL curves of the data lie in the range of the model, at every load.
TEST(LoadCurve, HoldsAllMeasuredCurves) {
  std::ifstream file(WATTLE_DATA "/load-power.csv");
  std::string line;
  std::getline(file, line);
  struct Point {
    double load, watts;
  };
  std::vector<std::vector<Point>> curves;
  std::string last;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string cpu;
    std::string how;
    std::string load;
    std::string watts;
    std::getline(cells, cpu, ',');
    std::getline(cells, how, ',');
    std::getline(cells, load, ',');
    std::getline(cells, watts, ',');
    const Point point{std::stod(load) / 100.0, std::stod(watts)};
    // The load falls where another machine of the same model starts.
    const bool is_new = cpu + how != last || point.load < curves.back().back().load - 0.05;
    if (is_new) curves.emplace_back();
    curves.back().push_back(point);
    last = cpu + how;
  }
  ASSERT_EQ(curves.size(), 10U);
  for (const auto& curve : curves) {
    const Point idle = curve.front();
    const Point full = curve.back();
    for (std::size_t i = 1; i < curve.size(); ++i) {
      const double load = (curve[i].load - idle.load) / (1.0 - idle.load);
      const double part = (curve[i].watts - idle.watts) / (full.watts - idle.watts);
      EXPECT_GE(part, active_parts(load).low) << load;
      EXPECT_LE(part, active_parts(load).high) << load;
    }
  }
}

class Files : public ::testing::Test {
 protected:
  void write(const char* path, std::string_view text) const { folder_.write(path, text); }
  [[nodiscard]] System system() const {
    return {.sysfs = folder_.path() / "sys", .procfs = folder_.path() / "proc"};
  }
  fakes::TempFolder folder_;
};

using EnergyEstimatorTest = Files;

TEST_F(EnergyEstimatorTest, EstimatesFromTheFilesOfTheMachine) {
  write("proc/cpuinfo", kTurin);
  write("proc/stat", "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 500\ncpu1 0 0 0 500\nintr 0\n");
  EnergyEstimator estimator({.system = system()});
  estimator.start();
  write("proc/stat", "cpu 100 0 0 1100 0 0 0 0\ncpu0 0 0 0 500\ncpu1 0 0 0 500\nintr 0\n");
  estimator.stop();
  const EnergyEstimate estimate = estimator.estimate(Seconds(0));
  ASSERT_TRUE(estimate.machine) << estimate.unknown;
  EXPECT_EQ(estimate.microarchitecture, "AMD EPYC gen 5 (Turin)");
  EXPECT_TRUE(estimate.is_virtual);
  EXPECT_EQ(estimate.threads, 2.0);
  EXPECT_NEAR(estimate.mean_load, 0.5, 1e-12);
  EXPECT_NE(estimate.basis.find("41 servers, 2026-03-09; 95 % of 895 servers"), std::string::npos)
      << estimate.basis;
}

/// Of two threads that were busy for half of the time that they had.
TEST_F(EnergyEstimatorTest, EstimatesOnEveryKindOfMachine) {
  struct Machine {
    const char* cpuinfo;
    const char* title;
    const char* stat = "cpu 100 0 0 1100 0 0 0 0\ncpu0 0 0 0 500\ncpu1 0 0 0 500\nintr 0\n";
    const char* cgroup = "";
    const char* cpu_max = "max 100000\n";
    double threads = 2.0;
    double stolen = 0.0;
  };
  const char* const stolen = "cpu 10 0 0 1010 0 0 0 180\ncpu0 0 0 0 500\ncpu1 0 0 0 500\nintr 0\n";
  for (const Machine& machine : {
           Machine{"processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n", "Arm Neoverse N1"},
           Machine{"processor : 0\nhart : 1\nisa : rv64imafdc\n", "unknown microarchitecture"},
           Machine{"", "unknown microarchitecture"},
           Machine{"processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n\nprocessor : 1\n"
                   "CPU implementer : 0x41\nCPU part : 0xd03\n",
                   "Arm Neoverse N1 and unknown microarchitecture of Arm"},
           Machine{kTurin.data(), "AMD EPYC gen 5 (Turin)", stolen, "", "", 2.0, 0.9},
           Machine{.cpuinfo = kTurin.data(),
           .title = "AMD EPYC gen 5 (Turin)",
           .cgroup = "0::/a\n",
           .cpu_max = "50000 100000\n",
           .threads = 0.5},
       }) {
    write("sys/class/dmi/id/sys_vendor", "Gigabyte\n");
    write("sys/class/dmi/id/chassis_type", "23\n");
    write("proc/cpuinfo", machine.cpuinfo);
    write("proc/stat", "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 500\ncpu1 0 0 0 500\nintr 0\n");
    write("proc/self/cgroup", machine.cgroup);
    write("sys/fs/cgroup/a/cpu.max", machine.cpu_max);
    write("sys/fs/cgroup/a/cpu.stat", "usage_usec 1000\n");
    EnergyEstimator estimator({.system = system()});
    estimator.start();
    write("proc/stat", machine.stat);
    estimator.stop();
    const EnergyEstimate estimate = estimator.estimate();
    ASSERT_TRUE(estimate.machine) << machine.title << ": " << estimate.unknown;
    EXPECT_EQ(estimate.microarchitecture, machine.title);
    EXPECT_EQ(estimate.threads, machine.threads) << machine.title;
    EXPECT_NEAR(estimate.stolen_part, machine.stolen, 1e-12) << machine.title;
    EXPECT_GT(estimate.machine->low, Joules(0.0)) << machine.title;
    EXPECT_LT(estimate.machine->low, estimate.machine->typical) << machine.title;
    EXPECT_LT(estimate.machine->typical, estimate.machine->high) << machine.title;
  }
}

TEST_F(EnergyEstimatorTest, SaysWhyNothingIsEstimated) {
  write("proc/cpuinfo", kTurin);
  EnergyEstimator estimator({.system = system()});
  estimator.start();
  EXPECT_NE(estimator.estimate().unknown.find("/proc/stat cannot be read"), std::string::npos);
  write("proc/stat", "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 500\nintr 0\n");
  EnergyEstimator still({.system = system()});
  still.start();
  EXPECT_NE(still.estimate().unknown.find("did not advance"), std::string::npos);
  EXPECT_FALSE(still.estimate().machine);
}

/// Of a machine that does not show whether it is one.
class UnknownGuest : public Files {
 protected:
  UnknownGuest() {
    write("proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n");
  }
  [[nodiscard]] EnergyEstimate estimate(std::optional<MachineExtent> extent = {}) const {
    write("proc/stat", "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 500\nintr 0\n");
    EnergyEstimator estimator({.system = system(), .extent = extent});
    estimator.start();
    write("proc/stat", "cpu 100 0 0 1100 0 0 0 0\ncpu0 0 0 0 500\nintr 0\n");
    return estimator.estimate();
  }
  static void set(const char* value) { ::setenv("WATTLE_ESTIMATE_AS", value, 1); }
  void TearDown() override { ::unsetenv("WATTLE_ESTIMATE_AS"); }
};

TEST_F(UnknownGuest, HasNoEstimateButTheNameOfTheSettingThatGivesOne) {
  EXPECT_FALSE(estimate().machine);
  EXPECT_NE(estimate().unknown.find("WATTLE_ESTIMATE_AS"), std::string::npos);
}

TEST_F(UnknownGuest, IsWhatTheCallerSays) {
  ASSERT_TRUE(estimate(MachineExtent::guest).machine);
  EXPECT_TRUE(estimate(MachineExtent::guest).is_virtual);
  ASSERT_TRUE(estimate(MachineExtent::server).machine);
  EXPECT_FALSE(estimate(MachineExtent::server).is_virtual);
}

TEST_F(UnknownGuest, IsWhatTheEnvironmentSaysUnlessTheCallerDoes) {
  set("guest");
  EXPECT_TRUE(estimate().is_virtual);
  EXPECT_FALSE(estimate(MachineExtent::server).is_virtual);
  set("server");
  ASSERT_TRUE(estimate().machine);
  EXPECT_FALSE(estimate().is_virtual);
  set("");
  EXPECT_FALSE(estimate().machine);
}

TEST_F(UnknownGuest, RefusesAnotherWordInTheEnvironment) {
  set("no\x1b");
  EXPECT_EQ(estimate().unknown, R"(WATTLE_ESTIMATE_AS is 'no\x1b'; it must be server or guest)");
}

TEST_F(EnergyEstimatorTest, SaysThatTheLoadCannotBeReadWhereItCouldAtTheStart) {
  write("proc/cpuinfo", kTurin);
  write("proc/stat", "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 500\nintr 0\n");
  EnergyEstimator estimator({.system = system()});
  estimator.start();
  write("proc/stat", "nothing\n");
  estimator.stop();
  EXPECT_NE(estimator.estimate().unknown.find("/proc/stat cannot be read"), std::string::npos)
      << estimator.estimate().unknown;
}

TEST_F(EnergyEstimatorTest, RefusesCallsOutOfOrder) {
  EnergyEstimator estimator({.system = system()});
  estimator.stop();
  EXPECT_THROW((void)estimator.estimate(), NotStarted);
  estimator.start();
  EXPECT_THROW(estimator.start(), InvalidState);
  EXPECT_THROW((void)estimator.estimate(Seconds(-1.0)), InvalidArgument);
  EXPECT_THROW((void)estimator.estimate(Seconds(std::nan(""))), InvalidArgument);
  estimator.stop();
  estimator.stop();
  EXPECT_NO_THROW(estimator.start());
}

}  // namespace
}  // namespace wattle
