#include "machine/fix_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "golden.hpp"

namespace wattle::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::expect_golden;

/// An ordinary user on a machine with all that is needed and no rights.
FixFacts machine() {
  return {.program = "/usr/bin/wattle",
          .user = "alice",
          .has_event = true,
          .has_zones = true,
          .has_perfmon = true,
          .has_unit = true,
          .has_user = true,
          .has_nvml = true,
          .gpus = {{"0000:03:00.0", "0x1002", "amdgpu"}, {"0000:41:00.0", "0x10de", "nvidia"}}};
}

TEST(FixOfCpus, GivesTheCapabilityToCountEvents) {
  expect_golden("fix_cpu.sh", script_of(plan_fix(FixTarget::cpu, machine())));
}

TEST(FixOfCpus, WithoutThatCapabilityGivesTheOneToReadFiles) {
  FixFacts facts = machine();
  facts.has_perfmon = false;
  expect_golden("fix_cpu_by_files.sh", script_of(plan_fix(FixTarget::cpu, facts)));
}

TEST(FixOfCpus, LoadsTheModuleFirst) {
  FixFacts facts = machine();
  facts.has_event = facts.has_zones = false;
  expect_golden("fix_cpu_module.sh", script_of(plan_fix(FixTarget::cpu, facts)));
}

TEST(FixOfCpus, HelpsNoVirtualMachineWithoutCounters) {
  FixFacts facts = machine();
  facts.is_virtual = true;
  for (const FixTarget target : {FixTarget::cpu, FixTarget::daemon}) {
    EXPECT_THAT(plan_fix(target, facts).obstacle, IsEmpty()) << "its host shows it counters";
  }
  facts.has_event = facts.has_zones = facts.has_unit = false;
  for (const FixTarget target : {FixTarget::cpu, FixTarget::daemon}) {
    const Fix fix = plan_fix(target, facts);
    EXPECT_THAT(fix.steps, IsEmpty());
    EXPECT_THAT(fix.obstacle, HasSubstr("virtual machine"));
  }
}

TEST(FixOfGpus, LoadsEachMissingDriverOnce) {
  FixFacts facts = machine();
  facts.gpus = {{"0000:03:00.0", "0x1002", ""},
                {"0000:41:00.0", "0x10de", ""},
                {"0000:42:00.0", "0x10de", ""},
                {"0000:00:02.0", "0x8086", "i915"}};
  expect_golden("fix_gpu_drivers.sh", script_of(plan_fix(FixTarget::gpu, facts)));
}

TEST(FixOfGpus, InstallsTheLibraryOfALoadedDriver) {
  FixFacts facts = machine();
  facts.has_nvml = false;
  expect_golden("fix_gpu_library.sh", script_of(plan_fix(FixTarget::gpu, facts)));
}

TEST(FixOfGpus, NamesWhatNoCommandChanges) {
  const auto obstacle = [](const PciGpu& gpu) {
    FixFacts facts = machine();
    facts.gpus = {gpu};
    return plan_fix(FixTarget::gpu, facts).obstacle;
  };
  EXPECT_THAT(obstacle({"0000:41:00.0", "0x10de", "vfio-pci"}), HasSubstr("virtual machines"));
  EXPECT_THAT(obstacle({"0000:41:00.0", "0x10de", "nouveau"}), HasSubstr("NVIDIA's own driver"));
  EXPECT_THAT(obstacle({"0000:41:00.0", "0x10de", "nvidia"}), HasSubstr("every GPU is loaded"));
  FixFacts bare = machine();
  bare.gpus.clear();
  EXPECT_THAT(plan_fix(FixTarget::gpu, bare).obstacle, HasSubstr("no GPU on the PCI bus"));
}

TEST(FixOfTheDaemon, StartsItAndLetsTheUserAsk) {
  expect_golden("fix_daemon.sh", script_of(plan_fix(FixTarget::daemon, machine())));
}

TEST(FixOfTheDaemon, MakesItsUserWhereThatIsMissing) {
  FixFacts facts = machine();
  facts.has_user = false;
  const Fix fix = plan_fix(FixTarget::daemon, facts);
  ASSERT_THAT(fix.steps, SizeIs(3));
  EXPECT_EQ(command_line(fix.steps[0]), "systemd-sysusers wattled.conf");
}

TEST(FixOfTheDaemon, PutsNobodyIntoTheGroupForRoot) {
  FixFacts facts = machine();
  facts.user.clear();
  EXPECT_THAT(plan_fix(FixTarget::daemon, facts).steps, SizeIs(1));
}

TEST(FixOfTheDaemon, TakesAnInstalledDaemon) {
  FixFacts facts = machine();
  facts.has_unit = false;
  const Fix fix = plan_fix(FixTarget::daemon, facts);
  EXPECT_THAT(fix.steps, IsEmpty());
  EXPECT_THAT(fix.obstacle, HasSubstr("install the package wattled"));
}

TEST(FixScript, QuotesWhatAShellWouldRead) {
  FixFacts facts = machine();
  facts.program = "/home/al ice/$(x)/wattle";
  EXPECT_THAT(script_of(plan_fix(FixTarget::cpu, facts)),
              HasSubstr("setcap cap_perfmon+ep '/home/al ice/$(x)/wattle'\n"));
}

}  // namespace
}  // namespace wattle::app
