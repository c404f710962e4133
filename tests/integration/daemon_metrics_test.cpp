// `/metrics` and `/health` of unusual machines.
#include <unistd.h>

#include <fstream>

#include "daemon.hpp"
#include "fakes/hwmon_tree.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOneGpu = "gpu A\nuuid GPU-aaaa\npower step 0 75\nlimit 200 300\n";

class DaemonMetrics : public DaemonTest {
 protected:
  [[nodiscard]] std::string health() const { return parse_json(get("/health").body)["status"]; }
};

TEST_F(DaemonMetrics, HaveThePlatformAndABatteryWhichOverlapTheRest) {
  tree_.add_zone("intel-rapl:2", "psys");
  fakes::HwmonTree meters;
  meters.add_battery("BAT0");
  std::filesystem::create_directory_symlink(meters.system().sysfs / "class/power_supply",
                                            tree_.system().sysfs / "class/power_supply");
  serve();
  std::string metrics;
  EXPECT_TRUE(eventually([&] {
    metrics = get("/metrics").body;
    return metrics.find("wattle_energy_joules_total{domain=\"battery_") != std::string::npos;
  })) << metrics;
  for (const char* const domain : {"psys", "battery_bat0"}) {
    EXPECT_THAT(metrics, ContainsRegex(std::string("wattle_sensor_up\\{domain=\"") + domain +
                                       "\"[^\n]*additive=\"false\""));
    EXPECT_THAT(metrics, Not(ContainsRegex(std::string("domain=\"") + domain +
                                           "\"[^\n]*additive=\"true\"")));
  }
}

TEST_F(DaemonMetrics, HaveMemoryWhosePackageCannotBeRead) {
  tree_.remove_file("intel-rapl:0", "energy_uj");
  play(50.0, {"intel-rapl:0:0"});
  serve();
  EXPECT_TRUE(eventually([&] {
    return get("/metrics").body.find("wattle_energy_joules_total{domain=\"dram_0\"") !=
           std::string::npos;
  }));
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, ContainsRegex("_total\\{domain=\"dram_0\"[^\n]*additive=\"true\""));
  EXPECT_THAT(metrics, Not(HasSubstr("domain=\"package_0\"")));
  for (const Json& cpu : parse_json(get("/discover").body)["cpus"]) {
    EXPECT_EQ(cpu.dump().find("dram_0"), std::string::npos) << "it is no CPU";
  }
}

TEST_F(DaemonMetrics, HaveTheCoresOfAPackageWhichLieInsideIt) {
  tree_.add_zone("intel-rapl:0:1", "core");
  tree_.add_zone("intel-rapl:0:2", "uncore");
  serve({"--compat-metrics", "node"});
  EXPECT_TRUE(eventually([&] {
    return get("/metrics").body.find("wattle_energy_joules_total{domain=\"uncore_0\"") !=
           std::string::npos;
  }));
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, ContainsRegex("_total\\{domain=\"core_0\"[^\n]*additive=\"false\""));
  EXPECT_THAT(metrics, HasSubstr("node_rapl_core_joules_total{"));
  EXPECT_EQ(parse_json(get("/discover").body)["cpus"].size(), 2U);
}

TEST_F(DaemonMetrics, ArePassedByPromtool) {
  if (::access("/usr/bin/promtool", X_OK) != 0) {
    GTEST_SKIP() << "promtool is not installed: run scripts/setup test";
  }
  fakes::HwmonTree meters;
  meters.add_power_meter(0, 0);
  std::filesystem::create_directory_symlink(meters.system().sysfs / "class/hwmon",
                                            tree_.system().sysfs / "class/hwmon");
  play(50.0);
  serve();
  std::string metrics;
  EXPECT_TRUE(eventually([&] {
    metrics = get("/metrics").body;
    return metrics.find("source=\"integrated\"") != std::string::npos;
  }));
  std::ofstream(path("metrics.prom")) << metrics;
  const Outcome outcome = run(
      {.command = {"sh", "-c", "promtool check metrics < \"$0\"", path("metrics.prom").string()}});
  EXPECT_EQ(outcome.code(), 0) << outcome.out << outcome.err;
}

TEST_F(DaemonMetrics, HaveThePowerOfAGpuThatShowsItsEnergyAlone) {
  serve({},
        "gpu A\nuuid GPU-aaaa\npower step 0 75\ncounter 500000\n"
        "instant none\naverage none\nusage none\n");
  const std::string name = "wattle_power_watts{domain=\"nvidia_gpu_0\"";
  std::string metrics;
  ASSERT_TRUE(eventually([&] {
    metrics = get("/metrics").body;
    return metrics.find(name) != std::string::npos;
  })) << metrics;
  const std::size_t value = metrics.find("} ", metrics.find(name)) + 2;
  EXPECT_NEAR(std::stod(metrics.substr(value)), 75.0, 20.0);
}

TEST_F(DaemonMetrics, HealthIsThatOfTheCounterOfAGpuToo) {
  serve({}, std::string(kOneGpu) + "error nvmlDeviceGetTotalEnergyConsumption 999 from 2\n");
  (void)get("/metrics");
  EXPECT_EQ(health(), "ok");
  EXPECT_TRUE(eventually([&] {
    (void)get("/metrics");
    return health() == "degraded";
  })) << "its power is still known";
}

TEST_F(DaemonMetrics, HealthIsNotThatOfAGpuThatNeverAnswered) {
  serve({}, std::string(kOneGpu) +
                "error nvmlDeviceGetPowerUsage 999\nerror nvmlDeviceGetFieldValues 999\n");
  (void)get("/gpu/get_power");
  (void)get("/metrics");
  EXPECT_EQ(health(), "ok");
}

TEST_F(DaemonMetrics, HealthIsNotThatOfAnotherQuestion) {
  serve({}, std::string(kOneGpu) +
                "error nvmlDeviceGetPowerUsage 999 from 2\n"
                "error nvmlDeviceGetFieldValues 999 from 2\n");
  EXPECT_EQ(health(), "ok");
  ASSERT_TRUE(eventually([&] { return get("/gpu/get_power").status == 500; }));
  EXPECT_EQ(health(), "degraded");
  ASSERT_EQ(get("/gpu/get_power_limit").status, 200);
  EXPECT_EQ(health(), "degraded") << "its power is still lost";
}

}  // namespace
}  // namespace wattle::integration
