#include "estimate/baseline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kDomains = {"dram_0", "package_0"};

Baseline sample() {
  return {.machine = {.host = "n1", .boot_id = "b1", .configuration = "00ff"},
          .taken_unix_s = 1'763'690'000.0,
          .length_s = 30.0,
          .domains = kDomains,
          .mean = Watts(41.25),
          .deviation = Watts(0.5),
          .busy_cpus = 0.02,
          .running = {"sshd 0.01"}};
}

std::string reason(const MachineIdentity& machine, double age_s,
                   const std::vector<std::string>& domains = kDomains) {
  return why_not_usable(sample(), machine, domains, sample().taken_unix_s + age_s);
}

TEST(Baseline, IsReadBackAsItWasWritten) {
  const auto read = parse_baseline(to_json(sample()));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(sample()));
  EXPECT_EQ(read->mean.si(), 41.25);
}

TEST(Baseline, HasTheErrorOfItsMeanAndItsFlags) {
  Baseline baseline = sample();
  EXPECT_THAT(baseline_text(baseline), testing::HasSubstr(": 41.25 W over 30.00 s"));
  baseline.uncertainty = Watts(0.34);
  baseline.flags = Flags::of(Flag::disagrees);
  const auto read = parse_baseline(to_json(baseline));
  ASSERT_TRUE(read);
  EXPECT_THAT(baseline_text(*read),
              testing::HasSubstr(": 41.25 W ±0.34 W over 30.00 s, disagrees"));
}

TEST(Baseline, IsNoneWhereTheTextIsNot) {
  for (const char* text :
       {"", "{}", "[]", "null", "{\"schema\":\"wattle.baseline/1\"}", "{\"a\":"}) {
    EXPECT_FALSE(parse_baseline(text)) << text;
  }
  std::string negative = to_json(sample());
  negative.replace(negative.find("41.25"), 5, "-1.25");
  EXPECT_FALSE(parse_baseline(negative));
}

TEST(Baseline, ThatCannotBeReadIsNamedWithTheReason) {
  const fakes::TempFolder folder;
  ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_THAT(read_baseline("n1").unknown, HasSubstr("wattle baseline measures it"));
  const std::string path = baseline_path("n1");
  std::filesystem::create_directories(path);
  EXPECT_EQ(read_baseline("n1").unknown,
            "idle power is unknown: cannot read " + path + ": Is a directory");
  ::unsetenv("XDG_STATE_HOME");  // NOLINT(concurrency-mt-unsafe)
}

TEST(Baseline, HoldsForItsMachineAndBootForADay) {
  EXPECT_EQ(reason(sample().machine, 60.0), "");
  EXPECT_THAT(reason(sample().machine, kBaselineHoldsSeconds + 1.0),
              HasSubstr("more than a day ago"));
  EXPECT_THAT(reason(sample().machine, -5.0), HasSubstr("from the future"));
}

TEST(Baseline, DoesNotHoldElsewhere) {
  MachineIdentity machine = sample().machine;
  machine.host = "n2";
  EXPECT_THAT(reason(machine, 1.0), HasSubstr("of another machine, n1"));
  machine = sample().machine;
  machine.boot_id = "b2";
  EXPECT_THAT(reason(machine, 1.0), HasSubstr("restarted since its baseline"));
  machine = sample().machine;
  machine.configuration = "00fe";
  EXPECT_THAT(reason(machine, 1.0), HasSubstr("settings changed"));
  EXPECT_THAT(reason(sample().machine, 1.0, {"package_0"}), HasSubstr("is of dram_0, package_0"));
}

TEST(Baseline, IsNotTakenUnderLoad) {
  EXPECT_FALSE(is_under_load(0.2, 2.0));
  EXPECT_TRUE(is_under_load(0.3, 2.0));
  EXPECT_FALSE(is_under_load(3.0, 64.0));
  EXPECT_TRUE(is_under_load(3.3, 64.0));
}

TEST(Baseline, KnowsIdlePowerByItsSpreadAndDrift) {
  Baseline baseline = sample();
  EXPECT_NEAR(baseline.power().high.si(), 41.25 * 1.03, 1e-9);
  baseline.deviation = Watts(10.0);
  EXPECT_DOUBLE_EQ(baseline.power().low.si(), 21.25);
  EXPECT_DOUBLE_EQ(baseline.power().busy_cpus, 0.02);
}

TEST(MachineIdentity, ChangesWithTheSettingsOfTheMachine) {
  const fakes::TempFolder folder;
  const System system{.sysfs = folder.path() / "sys", .procfs = folder.path() / "proc"};
  const std::string bare = identity_of(system).configuration;
  EXPECT_EQ(bare.size(), 16U);
  folder.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const std::string slow = identity_of(system).configuration;
  folder.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  EXPECT_NE(slow, bare);
  EXPECT_NE(identity_of(system).configuration, slow);
  folder.write("proc/sys/kernel/random/boot_id", "4711\n");
  EXPECT_EQ(identity_of(system).boot_id, "4711");
}

}  // namespace
}  // namespace wattle
