#include "sensors/drm/gpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "fakes/drm_tree.hpp"
#include "fakes/unprivileged.hpp"

namespace wattle::drm {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

using fakes::kAddress;

DrmGpu examined(const fakes::DrmTree& tree) {
  return examine(find_cards(tree.system()).gpus.at(0));
}

/// Each channel's name and the SI value that is read of it.
std::map<std::string, double> values_of(const DrmGpu& gpu) {
  std::map<std::string, double> values;
  for (std::size_t i = 0; i < gpu.channels.size(); ++i) {
    const auto raw = read_value(gpu.sources.at(i)).raw;
    const Channel& channel = gpu.channels[i];
    const std::string scope = channel.scope == Scope::module ? " of the module" : "";
    values[std::string(to_string(channel.metric)) + scope] =
        raw ? static_cast<double>(*raw) * channel.scale() : -1.0;
  }
  return values;
}

const Channel& channel_of(const DrmGpu& gpu, Metric metric) {
  return *std::ranges::find(gpu.channels, metric, &Channel::metric);
}

TEST(DrmGpu, ReportsWhatABoardOfAmdShows) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, kAddress);
  const DrmGpu gpu = examined(tree);
  const std::map<std::string, double> expected = {
      {"power_average", 100.0},     {"power_limit", 203.0},        {"utilization", 57.0},
      {"memory_utilization", 12.0}, {"memory_used", 4294967296.0}, {"memory_total", 17163091968.0},
      {"temperature", 51.0},        {"clock_sm", 2.1e9},           {"clock_memory", 1e9}};
  EXPECT_THAT(values_of(gpu), testing::ContainerEq(expected));
  EXPECT_THAT(gpu.refused, IsEmpty());
  EXPECT_EQ(gpu.channels[0].domain.name(), "amd_gpu_0");
  EXPECT_EQ(gpu.info.model, "AMD GPU 1002:73bf");
  EXPECT_EQ(gpu.info.id, "") << "not every board has one";
  EXPECT_EQ(gpu.info.pci_address, kAddress);
  EXPECT_EQ(gpu.info.driver, "amdgpu");
}

TEST(DrmGpu, DistinguishesPowerAtOnceFromPowerOnAverage) {
  fakes::DrmTree tree;
  tree.add_mi210(0, kAddress);
  const DrmGpu gpu = examined(tree);
  EXPECT_EQ(values_of(gpu)["power_instant"], 300.0);
  EXPECT_EQ(values_of(gpu)["temperature"], 44.0) << "of the junction, having no other";
  EXPECT_EQ(gpu.info.id, "18f68e602b8a790f");
  EXPECT_EQ(gpu.info.model, "AMD Instinct MI210 (1002:740f)");
}

TEST(DrmGpu, DoesNotClaimToKnowHowPowerIsAveraged) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, kAddress);
  const DrmGpu gpu = examined(tree);
  const Channel& power = channel_of(gpu, Metric::power_average);
  EXPECT_EQ(power.gauge.window, std::nullopt);
  EXPECT_EQ(power.gauge.coverage, std::nullopt);
  EXPECT_FALSE(power.update.known());
}

TEST(DrmGpu, DoesNotTakeTheWholeProcessorsPowerForItsGpus) {
  fakes::DrmTree tree;
  tree.add_apu(0, "0000:c1:00.0");
  const DrmGpu gpu = examined(tree);
  EXPECT_EQ(values_of(gpu)["power_average of the module"], 15.0);
  for (const Channel& channel : gpu.channels) EXPECT_FALSE(channel.gives_energy()) << channel.place;
  ASSERT_EQ(gpu.refused.size(), 1U);
  EXPECT_EQ(gpu.refused[0].subject, "amd_gpu_0 energy");
  EXPECT_TRUE(gpu.refused[0].absent) << "nothing is amiss";
  EXPECT_EQ(gpu.refused[0].domain, std::nullopt) << "nothing is missing from a total";
}

TEST(DrmGpu, KnowsTheProcessorThatHasNoNorthbridgeVoltage) {
  fakes::DrmTree tree;
  tree.add_mi210(0, kAddress);
  tree.write(0, "uevent", "DRIVER=amdgpu\nPCI_ID=1002:74A0\nPCI_SLOT_NAME=0000:03:00.0\n");
  EXPECT_EQ(values_of(examined(tree))["power_instant of the module"], 300.0) << "MI300A";
}

TEST(DrmGpu, CountsEnergyOfABoardOfIntel) {
  fakes::DrmTree tree;
  tree.add_arc(0, kAddress);
  const DrmGpu gpu = examined(tree);
  EXPECT_EQ(gpu.channels[0].domain.name(), "intel_gpu_0");
  EXPECT_DOUBLE_EQ(values_of(gpu)["energy"], 123.0);
  EXPECT_EQ(values_of(gpu)["clock_sm"], 2.4e9);
  const CounterTraits& counter = channel_of(gpu, Metric::energy).counter;
  EXPECT_EQ(counter.modulus, 0U) << "64 bits";
  EXPECT_EQ(counter.followed_ticks, 262'144'000'000U) << "of a register of 32";
  EXPECT_DOUBLE_EQ(counter.max_power.si(), 2 * 228.0);
  EXPECT_THAT(gpu.refused, IsEmpty());
}

TEST(DrmGpu, ReadsACounterOf64Bits) {
  fakes::DrmTree tree;
  tree.add_arc(0, kAddress);
  tree.set_hwmon_number(0, "energy1_input", UINT64_MAX);
  EXPECT_EQ(read_value(examined(tree).sources.at(0)).raw, UINT64_MAX);
}

TEST(DrmGpu, TakesThePackagesCounterWhereTheBoardHasNone) {
  fakes::DrmTree tree;
  tree.add_battlemage(0, kAddress);
  const DrmGpu gpu = examined(tree);
  EXPECT_THAT(channel_of(gpu, Metric::energy).place, EndsWith("energy2_input"));
  EXPECT_DOUBLE_EQ(channel_of(gpu, Metric::energy).counter.max_power.si(), 5000.0);
  EXPECT_EQ(values_of(gpu)["clock_sm"], 2.85e9);
  tree.write_hwmon(0, "energy1_input", "10000000\n");
  EXPECT_THAT(channel_of(examined(tree), Metric::energy).place, EndsWith("energy1_input"));
}

TEST(DrmGpu, KnowsNoPowerFromAKernelThatShowsNone) {
  fakes::DrmTree tree;
  tree.add_card(0, kAddress, "i915", "8086:56A0");
  const DrmGpu gpu = examined(tree);
  ASSERT_EQ(gpu.refused.size(), 1U);
  EXPECT_EQ(gpu.refused[0].domain, Domain::intel_gpu(0));
  EXPECT_EQ(gpu.refused[0].reason, "i915 shows neither its energy nor its power");
  EXPECT_THAT(gpu.refused[0].proof, HasSubstr("no "));
  EXPECT_THAT(gpu.refused[0].remedy, HasSubstr("6.2"));
}

TEST(DrmGpu, StillReportsTheRestWithoutAPowerSensor) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, kAddress);
  tree.remove(0, fakes::DrmTree::hwmon(0) + "/power1_average");
  const DrmGpu gpu = examined(tree);
  EXPECT_EQ(values_of(gpu)["utilization"], 57.0);
  ASSERT_EQ(gpu.refused.size(), 1U);
  EXPECT_EQ(gpu.refused[0].domain, Domain::amd_gpu(0));
  EXPECT_THAT(gpu.refused[0].remedy, HasSubstr("amdgpu.dpm=0"));
}

TEST(DrmGpu, SaysWhichFileMayNotBeOpened) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, kAddress);
  const auto path = tree.device(0) / fakes::DrmTree::hwmon(0) / "power1_average";
  std::filesystem::permissions(path, std::filesystem::perms::none);
  std::filesystem::permissions(tree.root(), std::filesystem::perms::all);
  const fakes::Unprivileged user;
  if (!user.holds()) GTEST_SKIP() << "root here cannot become anybody else";
  const DrmGpu gpu = examined(tree);
  ASSERT_EQ(gpu.refused.size(), 1U);
  EXPECT_EQ(gpu.refused[0].domain, Domain::amd_gpu(0));
  EXPECT_THAT(gpu.refused[0].reason, HasSubstr("this user may not open the file"));
  EXPECT_THAT(gpu.refused[0].proof, HasSubstr("power1_average: mode 0000"));
}

TEST(DrmGpu, RefusesGarbage) {
  for (const char* text : {"", "\n", "N/A\n", "-5\n", "100 W\n", "1e9\n", "4294967295000000\n",
                           "18446744073709551616\n", "00000000000000000000000000000000000001\n"}) {
    fakes::DrmTree tree;
    tree.add_rx6800(0, kAddress);
    tree.write_hwmon(0, "power1_average", text);
    const DrmGpu gpu = examined(tree);
    ASSERT_EQ(gpu.refused.size(), 1U) << text;
    EXPECT_EQ(gpu.refused[0].domain, Domain::amd_gpu(0)) << text;
    EXPECT_THAT(gpu.refused[0].reason, HasSubstr("the driver gives no value")) << text;
  }
}

TEST(DrmGpu, RefusesWhatFirmwareGivesForUnknown) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, kAddress);
  tree.write(0, "gpu_busy_percent", "65535\n");
  const DrmGpu gpu = examined(tree);
  ASSERT_EQ(gpu.refused.size(), 1U);
  EXPECT_EQ(gpu.refused[0].subject, "amd_gpu_0 utilization");
  EXPECT_EQ(gpu.refused[0].domain, std::nullopt) << "its energy can be told";
}

TEST(DrmGpu, TakesTheSecondFileWhereTheFirstHoldsNothing) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, kAddress);
  tree.write_hwmon(0, "temp1_input", "\n");
  const DrmGpu gpu = examined(tree);
  EXPECT_EQ(values_of(gpu)["temperature"], 58.0);
  EXPECT_THAT(gpu.refused, IsEmpty());
}

TEST(DrmGpu, IsNotReadWhileItSleeps) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, kAddress);
  // A read would find out, and refuse it.
  tree.write_hwmon(0, "power1_average", "no number\n");
  tree.write(0, "power/runtime_status", "suspended\n");
  const DrmGpu gpu = examined(tree);
  EXPECT_THAT(gpu.refused, IsEmpty());
  EXPECT_TRUE(channel_of(gpu, Metric::power_average).gives_energy());
}

TEST(DrmGpu, ShowsForeignBytesHarmlessly) {
  fakes::DrmTree tree;
  tree.add_mi210(0, kAddress);
  tree.write(0, "product_name", "\x1b[2J\n");
  tree.write(0, "unique_id", "\xff\n");
  const DrmGpu gpu = examined(tree);
  EXPECT_EQ(gpu.info.model, "\\x1b[2J (1002:740f)");
  EXPECT_EQ(gpu.info.id, "\\xff");
}

TEST(Asleep, IsWhatTheKernelCallsSuspended) {
  const fakes::TempFolder folder;
  const std::map<std::string, bool> states = {
      {"suspended\n", true}, {"suspending\n", true},   {"active\n", false}, {"resuming\n", false},
      {"error\n", false},    {"unsupported\n", false}, {"", false}};
  for (const auto& [text, asleep] : states) {
    folder.write("runtime_status", text);
    EXPECT_EQ(is_asleep(open_for_reading(folder.path() / "runtime_status")), asleep) << text;
  }
  EXPECT_FALSE(is_asleep(Fd{}));
}

}  // namespace
}  // namespace wattle::drm
