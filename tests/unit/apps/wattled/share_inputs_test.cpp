// What shares are made of: steps of energies, CPU times of groups, the kubelet's files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fakes/temp_folder.hpp"
#include "shares/group_usage.hpp"
#include "shares/kubelet_files.hpp"
#include "shares/measured_steps.hpp"
#include "shares/share_files.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr TimePoint kFirstReading = TimePoint(seconds(1000));

TEST(MeasuredSteps, AddUpToTheEnergyInWholeMicrojoules) {
  MeasuredSteps steps;
  EXPECT_FALSE(steps.take("cpu", 0.1, kFirstReading));
  std::uint64_t sum = 0;
  double energy_j = 0.1;
  for (int i = 1; i <= 1000; ++i) {
    energy_j += 0.0000613 * i;
    sum += steps.take("cpu", energy_j, kFirstReading + seconds(i))->uj;
  }
  EXPECT_EQ(sum, static_cast<std::uint64_t>(std::llround(energy_j * 1e6)) - 100'000);
}

TEST(MeasuredSteps, HaveTheLengthSinceTheLastOneThatIsKnown) {
  MeasuredSteps steps;
  (void)steps.take("gpu", 1.0, kFirstReading);
  EXPECT_FALSE(steps.take("gpu", std::nullopt, kFirstReading + seconds(5)));
  const auto step = steps.take("gpu", 3.0, kFirstReading + seconds(10));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->uj, 2'000'000U);
  EXPECT_EQ(step->length, Seconds(10.0));
}

TEST(MeasuredSteps, AreNothingAcrossARestart) {
  MeasuredSteps steps;
  (void)steps.take("gpu", 100.0, kFirstReading);
  const auto restart = steps.take("gpu", 1.0, kFirstReading + seconds(5));
  ASSERT_TRUE(restart);
  EXPECT_TRUE(restart->is_restart);
  EXPECT_EQ(restart->uj, 0U);
  EXPECT_EQ(steps.take("gpu", 1.5, kFirstReading + seconds(10))->uj, 500'000U);
}

TEST(MeasuredSteps, AreNotKnownOfEnergiesThatAreNone) {
  MeasuredSteps steps;
  (void)steps.take("gpu", 1.0, kFirstReading);
  EXPECT_FALSE(steps.take("gpu", -1.0, kFirstReading));
  EXPECT_FALSE(steps.take("gpu", 1e300, kFirstReading));
  EXPECT_FALSE(steps.take("gpu", std::numeric_limits<double>::quiet_NaN(), kFirstReading));
}

class GroupUsageTest : public testing::Test {
 protected:
  std::map<CgroupGroup, std::uint64_t> take(const std::map<std::string, std::uint64_t>& used_us,
                                            bool is_whole = true) {
    CgroupTree::CgroupReading reading{.is_whole = is_whole};
    for (const auto& [path, us] : used_us) {
      reading.times.emplace(path, CgroupTime{group_of_cgroup(path)->group, us});
    }
    return usage_.take(reading);
  }
  static CgroupGroup service(const std::string& name) { return {CgroupKind::service, name}; }

  GroupUsage usage_;
};

TEST_F(GroupUsageTest, CountsFromTheFirstReading) {
  EXPECT_THAT(take({{"/a.service", 500}}), ElementsAre(Pair(service("a.service"), 0)));
  EXPECT_THAT(take({{"/a.service", 700}}), ElementsAre(Pair(service("a.service"), 200)));
}

TEST_F(GroupUsageTest, CountsAGroupThatIsNewFromItsStart) {
  (void)take({});
  EXPECT_THAT(take({{"/a.service", 700}}), ElementsAre(Pair(service("a.service"), 700)));
}

TEST_F(GroupUsageTest, DoesNotCountFromItsStartWhatAReadingMayHaveLeftOut) {
  (void)take({}, false);
  EXPECT_THAT(take({{"/a.service", 700}}), ElementsAre(Pair(service("a.service"), 0)));
}

TEST_F(GroupUsageTest, CountsAGroupThatWasMadeAgainFromItsStart) {
  (void)take({{"/a.service", 700}});
  EXPECT_THAT(take({{"/a.service", 40}}), ElementsAre(Pair(service("a.service"), 40)));
  (void)take({});
  EXPECT_THAT(take({{"/a.service", 50}}), ElementsAre(Pair(service("a.service"), 50)));
}

TEST_F(GroupUsageTest, AddsUpControlGroupsOfOneGroup) {
  const std::string number(64, 'a');
  (void)take({});
  const auto groups = take({{"/machine.slice/libpod-" + number + ".scope", 5},
                            {"/machine.slice/libpod-conmon-" + number + ".scope", 2}});
  EXPECT_THAT(groups, ElementsAre(Pair(CgroupGroup{CgroupKind::container, "aaaaaaaaaaaa"}, 7)));
}

TEST(KubeletFiles, KnowWhichPodHasADevice) {
  const DeviceOwners owners = parse_device_owners(
      R"({"Data":{"PodDeviceEntries":[)"
      R"({"PodUID":"u1","ContainerName":"c","ResourceName":"nvidia.com/gpu",)"
      R"("DeviceIDs":{"0":["GPU-a"],"1":["GPU-b"]},"AllocResp":"CkE="},)"
      R"({"PodUID":"u2","ContainerName":"c","ResourceName":"nvidia.com/gpu.shared",)"
      R"("DeviceIDs":{"-1":["GPU-c::0","GPU-c::3"]},"AllocResp":""},)"
      R"({"PodUID":"u3","DeviceIDs":["GPU-c::1"]}],)"
      R"("RegisteredDevices":{"nvidia.com/gpu":["GPU-a"]}},"Checksum":12345,"BootID":"b"})");
  EXPECT_THAT(owners,
              ElementsAre(Pair("GPU-a", ElementsAre("u1")), Pair("GPU-b", ElementsAre("u1")),
                          Pair("GPU-c", ElementsAre("u2", "u3"))));
}

TEST(KubeletFiles, KnowNothingOfTextsThatAreNone) {
  for (
      const char* const text :
      {"", "{", "[]", "null", R"({"Data":5})", R"({"Data":{"PodDeviceEntries":{"a":1}}})",
       R"({"Data":{"PodDeviceEntries":[1,{"PodUID":7,"DeviceIDs":["a"]},{"PodUID":"u"},)"
       R"({"PodUID":"u","DeviceIDs":{"0":[1,null,""],"1":"a"}},{"PodUID":"","DeviceIDs":["a"]}]}})"}) {
    EXPECT_THAT(parse_device_owners(text), IsEmpty()) << text;
  }
}

TEST(KubeletFiles, KnowTheNamesOfPods) {
  PodNames names;
  EXPECT_TRUE(
      add_pod_name("kube-system_kube-proxy-x7_0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56", names));
  EXPECT_EQ(names.at("0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56"),
            (PodName{"kube-system", "kube-proxy-x7"}));
  for (const char* const folder : {"", "a", "a_b", "_b_c", "a__c", "a_b_", "a_b_c_d"}) {
    EXPECT_FALSE(add_pod_name(folder, names)) << folder;
  }
  EXPECT_TRUE(add_pod_name("a\n_b\x1b_c\xff", names));
  EXPECT_EQ(names.at("c\\xff"), (PodName{"a\\x0a", "b\\x1b"}));
}

TEST(KubeletFiles, AreNothingWhereThereIsNoKubelet) {
  const fakes::TempFolder folder;
  const KubeletFiles files =
      read_kubelet_files({.folder = folder.path() / "none", .pod_logs = folder.path() / "logs"});
  EXPECT_THAT(files.owners, IsEmpty());
  EXPECT_THAT(files.names, IsEmpty());
}

TEST(ShareFiles, HaveTheCpuTimeOfEverythingSinceTheLastReading) {
  const fakes::TempFolder folder;
  const auto put = [&](int ticks) {
    folder.write("proc/stat",
                 "cpu  " + std::to_string(ticks) + " 0 0 1000 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0\n");
  };
  ShareFileReader reader(
      {.system = {.sysfs = folder.path() / "sys", .procfs = folder.path() / "proc"},
       .baseline = (folder.path() / "none").string()});
  put(100);
  EXPECT_FALSE(reader.read(kFirstReading).busy_us);
  put(150);
  const ShareFiles files = reader.read(kFirstReading + seconds(5));
  EXPECT_EQ(files.busy_us, 500'000U);
  EXPECT_THAT(files.no_groups, testing::StartsWith("there are no control groups at "));
  EXPECT_FALSE(files.baseline.unknown.empty());
  folder.write("proc/stat", "");
  EXPECT_FALSE(reader.read(kFirstReading + seconds(10)).busy_us);
}

}  // namespace
}  // namespace wattle::daemon
