// The shares of groups.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/json/json_read.hpp"
#include "shared_energy_fixture.hpp"

namespace wattle::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

const CgroupGroup kWeb{CgroupKind::service, "web.service"};
const CgroupGroup kPod{CgroupKind::pod, kUid};

TEST_F(SharedEnergyTest, DividesWhatIsAboveTheLowestPowerByCpuTime) {
  use("/system.slice/web.service", 0);
  use("/kubepods/pod0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56", 0);
  start();
  use("/system.slice/web.service", 3'000'000);
  use("/kubepods/pod0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56", 1'000'000);
  next(Watts(50.0));
  EXPECT_NEAR(joules("cpu", kWeb), 150.0, 0.01);
  EXPECT_NEAR(joules("cpu", kPod), 50.0, 0.01);
  EXPECT_NEAR(static_cast<double>(domain("cpu").unexplained.last_uj), 50e6, 1e4);
  EXPECT_FALSE(shares_->idle()->is_measured);
  EXPECT_NEAR(shares_->idle()->power.si(), 10.0, 0.01);
}

TEST_F(SharedEnergyTest, ShowsHowFarAShareMayBeOff) {
  use("/system.slice/web.service", 0);
  use("/system.slice/db.service", 0);
  start();
  use("/system.slice/web.service", 3'000'000);
  use("/system.slice/db.service", 1'000'000);
  next(Watts(50.0));
  EXPECT_THAT(metrics(), HasSubstr("wattle_share_uncertainty_joules_total{domain=\"cpu\","
                                   "group_kind=\"service\",group=\"web.service\"} "));
  const nlohmann::ordered_json json = parse_json(shares_json(*shares_));
  std::size_t groups = 0;
  for (const auto& row : json["domains"][0]["rows"]) {
    if (row["kind"] != "service") {
      EXPECT_TRUE(row["low_uj"].is_null() && row["high_uj"].is_null()) << row;
      continue;
    }
    ++groups;
    EXPECT_LT(row["low_uj"].get<std::uint64_t>(), row["energy_uj"].get<std::uint64_t>());
    EXPECT_GT(row["high_uj"].get<std::uint64_t>(), row["energy_uj"].get<std::uint64_t>());
  }
  EXPECT_EQ(groups, 2U);
}

TEST_F(SharedEnergyTest, GivesAGpuToTheGroupOfItsProcess) {
  put_process(77, "/system.slice/slurmstepd.scope/job_12/step_0");
  gpu_->put({{{.pid = 77}}});
  start();
  next(Watts(10.0));
  next(Watts(10.0));
  EXPECT_NEAR(joules("nvidia_gpu_0", {CgroupKind::slurm_job, "12"}), 2000.0, 0.01);
  EXPECT_NEAR(static_cast<double>(domain("nvidia_gpu_0").other.uj), 1e9, 1e4) << "when it was new";
}

TEST_F(SharedEnergyTest, HasAGpuThatNobodyUsesAsIdle) {
  start();
  next(Watts(10.0));
  EXPECT_NEAR(static_cast<double>(domain("nvidia_gpu_0").idle.last_uj), 1e9, 1e4);
}

TEST_F(SharedEnergyTest, DoesNotDivideAGpuOfProcessesThatItDoesNotSee) {
  gpu_->put({{{.pid = 99}}});
  start();
  next(Watts(10.0));
  EXPECT_EQ(domain("nvidia_gpu_0").undivided.uj, domain("nvidia_gpu_0").measured.uj);
  EXPECT_THAT(
      metrics(),
      HasSubstr(R"(wattle_share_undivided_info{domain="nvidia_gpu_0",reason="a process that )"
                R"(is not seen here uses it"} 1)"));
}

TEST_F(SharedEnergyTest, DoesNotDivideAGpuOfAnMpsServer) {
  put_process(77, "/system.slice/mps.service", "nvidia-cuda-mps");
  gpu_->put({{{.pid = 77}}});
  start();
  next(Watts(10.0));
  EXPECT_THAT(domain("nvidia_gpu_0").undivided_reason, HasSubstr("MPS"));
}

TEST_F(SharedEnergyTest, GivesAGpuOfUnseenProcessesToTheOnlyPodThatHasIt) {
  use(std::string("/kubepods/pod") + kUid, 0);
  folder_.write(
      "kubelet/device-plugins/kubelet_internal_checkpoint",
      std::string(R"({"Data":{"PodDeviceEntries":[{"PodUID":")") + kUid +
          R"(","DeviceIDs":{"0":["GPU-a"]}},{"PodUID":"gone","DeviceIDs":{"0":["GPU-a"]}}]}})");
  folder_.write("logs/ml_train-0_" + std::string(kUid) + "/x", "");
  gpu_->put({{{.pid = 99}}});
  start();
  next(Watts(10.0));
  next(Watts(10.0));
  EXPECT_GT(joules("nvidia_gpu_0", kPod), 1000.0);
  EXPECT_THAT(metrics(), HasSubstr(R"(wattle_share_group_info{group_kind="pod",group=")" +
                                   std::string(kUid) + R"(",namespace="ml",pod="train-0"} 1)"));
}

TEST_F(SharedEnergyTest, DoesNotDivideTimeInWhichADeviceWasNotRead) {
  use("/a.service", 0);
  start();
  status_ = ReadStatus::retry;
  next(Watts(50.0));
  EXPECT_EQ(domain("cpu").length, Seconds(0));
  status_ = ReadStatus::ok;
  use("/a.service", 5'000'000);
  next(Watts(50.0));
  EXPECT_EQ(domain("cpu").undivided_reason,
            "the energy of package_0 is unknown for a part of the interval");
  EXPECT_NEAR(static_cast<double>(domain("cpu").undivided.uj), 500e6, 1e4);
  use("/a.service", 5'000'000);
  next(Watts(50.0));
  EXPECT_EQ(domain("cpu").undivided_reason, "");
  EXPECT_NEAR(joules("cpu", {CgroupKind::service, "a.service"}), 200.0, 0.01);
}

TEST_F(SharedEnergyTest, DoesNotDivideWithoutControlGroups) {
  std::filesystem::remove_all(folder_.path() / "sys/fs");
  start();
  next(Watts(50.0));
  EXPECT_EQ(domain("cpu").undivided.uj, domain("cpu").measured.uj);
  ASSERT_EQ(shares_->notes().size(), 1U);
  EXPECT_THAT(shares_->notes()[0], HasSubstr("no control groups"));
}

TEST_F(SharedEnergyTest, HasRowsForTheFirstAndOtherForTheRest) {
  for (int i = 0; i < 6; ++i) use("/s" + std::to_string(i) + ".service", 0);
  start(2);
  for (std::uint64_t i = 0; i < 6; ++i) {
    use("/s" + std::to_string(i) + ".service", 1'000'000 + 1000 * i);
  }
  next(Watts(50.0));
  EXPECT_EQ(shares_->ledger().rows().size(), 2U);
  EXPECT_GT(domain("cpu").other.uj, 100'000'000U);
  EXPECT_THAT(metrics(), HasSubstr("wattle_share_groups{state=\"hidden\"} 4\n"));
  EXPECT_THAT(shares_->notes().at(0), HasSubstr("4 groups have no row"));
}

TEST_F(SharedEnergyTest, WritesHostileNamesAsTextThatBreaksNoFormat) {
  const std::string path = "/evil\"} 1e9\n\x1b[2J\xff\\.service";
  use(path, 0);
  start();
  use(path, 1'000'000);
  next(Watts(50.0));
  EXPECT_THAT(metrics(), HasSubstr(R"(group="evil\"} 1e9\\x0a\\x1b[2J\\xff\\.service"} )"));
  const nlohmann::ordered_json json = parse_json(shares_json(*shares_));
  ASSERT_TRUE(json.is_object()) << shares_json(*shares_);
  EXPECT_EQ(json["domains"][0]["rows"][0]["group"], R"(evil"} 1e9\x0a\x1b[2J\xff\.service)");
}

TEST_F(SharedEnergyTest, SaysOfWhatMayBeIdleAloneWhatTheIdlePowerIs) {
  use("/a.service", 0);
  start();
  use("/a.service", 1'000'000);
  next(Watts(50.0));
  ASSERT_TRUE(shares_->idle());
  const std::string note = shares_->idle()->note;
  EXPECT_THAT(note, Not(testing::IsEmpty()));
  const nlohmann::ordered_json json = parse_json(shares_json(*shares_));
  std::vector<std::string> kinds;
  for (const auto& row : json["domains"][0]["rows"]) {
    if (row["reason"] == note) kinds.push_back(row["kind"]);
  }
  EXPECT_THAT(kinds, testing::ElementsAre("unexplained"));
}

TEST_F(SharedEnergyTest, ClosesInItsJsonAndInItsMetrics) {
  use("/a.service", 0);
  use("/b.service", 0);
  put_process(77, "/b.service");
  gpu_->put({{{.pid = 77}}});
  start();
  for (int i = 0; i < 40; ++i) {
    use("/a.service", 1'234'567);
    if (i < 10) use("/b.service", 765'432);
    if (i == 10) std::filesystem::remove_all(folder_.path() / "sys/fs/cgroup/b.service");
    if (i == 12) gpu_->put(std::vector<DeviceProcess>());
    next(Watts(30.0 + i % 7));
    const nlohmann::ordered_json json = parse_json(shares_json(*shares_));
    ASSERT_EQ(json["schema"], "wattled.shares/1");
    ASSERT_EQ(json["domains"].size(), 2U);
    for (const auto& domain : json["domains"]) {
      std::uint64_t sum = 0;
      for (const auto& row : domain["rows"]) sum += row["energy_uj"].get<std::uint64_t>();
      ASSERT_EQ(sum, domain["energy_uj"].get<std::uint64_t>()) << i;
    }
  }
  EXPECT_GT(domain("nvidia_gpu_0").ended_uj, 0U) << "the test has seen a row end";
}

TEST_F(SharedEnergyTest, HasNoFamilyThatIsNotWellFormed) {
  use("/a.service", 0);
  start();
  use("/a.service", 1'000'000);
  next(Watts(50.0));
  EXPECT_THAT(metrics(), HasSubstr("# TYPE wattle_share_energy_joules counter\n"
                                   "# UNIT wattle_share_energy_joules joules\n"));
  EXPECT_THAT(metrics(), HasSubstr(R"(wattle_share_energy_joules_total{domain="cpu",)"
                                   R"(group_kind="service",group="a.service"} )"));
  EXPECT_THAT(metrics(), HasSubstr(R"(wattle_share_measured_joules_total{domain="cpu"} 300)"));
  EXPECT_THAT(metrics(), HasSubstr(R"(wattle_share_idle_power_watts{source="lowest"} 10)"));
  EXPECT_THAT(metrics(), Not(HasSubstr("group=\"\"")));
}

}  // namespace
}  // namespace wattle::daemon
