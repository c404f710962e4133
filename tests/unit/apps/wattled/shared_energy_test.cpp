#include "shares/shared_energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/share_routes.hpp"
#include "base/json/json_read.hpp"
#include "fakes/scripted_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kUid = "0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56";

/// A GPU of 200 W with processes that a test sets. Threads: any.
class SharedGpu final : public Sensor {
 public:
  explicit SharedGpu(const TimeSource& clock) : clock_(clock), begin_(clock.now()) {
    channels_.push_back(fakes::counter_channel(Domain::nvidia_gpu(0)));
    channels_.push_back({.domain = Domain::nvidia_gpu(0), .metric = Metric::utilization});
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    const TimePoint now = clock_.now();
    const Joules energy = Watts(200.0) * Seconds(now - begin_);
    readings[0] = {.at = now,
                   .raw = static_cast<std::uint64_t>(energy / channels_[0].counter.tick),
                   .status = fails ? ReadStatus::retry : ReadStatus::ok};
    readings[1] = {.at = now, .raw = utilization, .status = ReadStatus::ok};
  }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  [[nodiscard]] std::optional<std::vector<DeviceProcess>> processes() override {
    const std::scoped_lock lock(mutex_);
    return processes_;
  }
  void put(std::optional<std::vector<DeviceProcess>> processes) {
    const std::scoped_lock lock(mutex_);
    processes_ = std::move(processes);
  }

  std::atomic<bool> fails{false};
  std::atomic<std::uint64_t> utilization{0};

 private:
  const TimeSource& clock_;
  TimePoint begin_;
  DeviceInfo info_{.id = "GPU-a", .pci_address = "0000:41:00.0"};
  std::vector<Channel> channels_{};
  std::mutex mutex_;
  std::optional<std::vector<DeviceProcess>> processes_ = std::vector<DeviceProcess>();
};

/// A package of 50 W, a GPU of 200 W, and groups whose CPU times a test sets.
class SharedEnergyTest : public testing::Test {
 protected:
  SharedEnergyTest() {
    folder_.write("sys/fs/cgroup/cgroup.controllers", "cpu\n");
    put_busy();
    std::vector<std::shared_ptr<Sensor>> sensors;
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(
        {fakes::counter_channel(Domain::package(0)), [this](TimePoint now) {
           package_j_ += (watts_ * Seconds(now - package_at_)).si();
           package_at_ = now;
           return fakes::Shown{static_cast<std::uint64_t>(package_j_ * 16384.0), status_};
         }});
    package_at_ = loop_.now();
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    cpus_.emplace(std::move(sensors), std::vector<Cpus::Cpu>{{.id = 0, .cpu = {0, 0}}});
    gpu_ = std::make_shared<SharedGpu>(clock_);
    gpus_.emplace(std::vector<Gpus::Gpu>{{.entry = {.id = 0}, .sensor = gpu_}}, loop_);
    scrape_.emplace(*gpus_, others_, *cpus_, loop_);
  }

  void start(std::size_t most_rows = 20, std::size_t most_processes = 0) {
    const System system{.sysfs = folder_.path() / "sys", .procfs = folder_.path() / "proc"};
    shares_.emplace(*scrape_, *gpus_, *cpus_, loop_,
                    SharesOptions{.most_rows = most_rows,
                                  .most_processes = most_processes,
                                  .places = {.system = system,
                                             .baseline = (folder_.path() / "baseline").string(),
                                             .kubelet = {.folder = folder_.path() / "kubelet",
                                                         .pod_logs = folder_.path() / "logs"}}});
    wait();
    // Nothing but the first powers: then groups may use energy.
    next(Watts(10.0));
  }
  /// The next interval of 5 s, with this power of the package.
  void next(Watts power) {
    watts_ = power;
    loop_.advance(seconds(5));
    wait();
  }
  void wait() {
    while (!shares_->divided_at() || *shares_->divided_at() < loop_.now()) {
      loop_.run_posted();
      std::this_thread::yield();
    }
  }
  /// It uses so much from now on.
  void use(const std::string& path, std::uint64_t more_us) {
    used_us_[path] += more_us;
    busy_us_ += more_us;
    folder_.write("sys/fs/cgroup" + path + "/cpu.stat",
                  "usage_usec " + std::to_string(used_us_[path]) + '\n');
    put_busy();
  }
  void put_busy() const {
    folder_.write("proc/stat", "cpu  " + std::to_string(busy_us_ / 10'000) +
                                   " 0 0 1000 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n");
  }
  void put_process(int pid, const std::string& cgroup,
                   const std::string& command = "python3") const {
    folder_.write("proc/" + std::to_string(pid) + "/cgroup", "0::" + cgroup + '\n');
    folder_.write("proc/" + std::to_string(pid) + "/comm", command + '\n');
  }

  /// The same with what names a process for good.
  void put_gpu_process(int pid, int start_ticks, const std::string& name = "python3") const {
    put_process(pid, "/a.service", name);
    folder_.write("proc/" + std::to_string(pid) + "/stat",
                  std::to_string(pid) + " (" + name + ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                      std::to_string(start_ticks) + " 4096 1 0\n");
  }
  /// The GPU has worked so long for each of these processes, in milliseconds.
  void put_work(const std::map<int, int>& work) {
    std::vector<DeviceProcess> processes;
    for (const auto& [pid, ms] : work) {
      processes.push_back({.pid = pid, .engine_time = std::chrono::milliseconds(ms)});
    }
    gpu_->put(std::move(processes));
  }
  double process_j(int pid, std::uint64_t start_ticks) const {
    const auto row = shares_->processes()->rows().find({.pid = pid, .start_ticks = start_ticks});
    return row == shares_->processes()->rows().end()
               ? -1.0
               : static_cast<double>(row->second.at(0).uj) / 1e6;
  }

  std::size_t place_of(std::string_view domain) const {
    const auto& domains = shares_->ledger().domains();
    return static_cast<std::size_t>(std::ranges::find(domains, domain, &LedgerDomain::name) -
                                    domains.begin());
  }
  const LedgerDomain& domain(std::string_view name) const {
    return shares_->ledger().domains().at(place_of(name));
  }
  double joules(std::string_view domain, const CgroupGroup& group) const {
    const auto row = shares_->ledger().rows().find(group);
    return row == shares_->ledger().rows().end()
               ? -1.0
               : static_cast<double>(row->second.at(place_of(domain)).uj) / 1e6;
  }
  std::string metrics() const {
    std::vector<MetricFamily> families;
    add_share_families(*shares_, families);
    return metrics_text(families, MetricsFormat::open_metrics);
  }

  VirtualLoop loop_;
  LoopClock clock_{loop_};
  fakes::TempFolder folder_;
  std::map<std::string, std::uint64_t> used_us_;
  std::uint64_t busy_us_ = 0;
  Watts watts_{50.0};
  double package_j_ = 0.0;
  TimePoint package_at_{};
  ReadStatus status_ = ReadStatus::ok;
  std::optional<Cpus> cpus_;
  std::shared_ptr<SharedGpu> gpu_;
  std::optional<Gpus> gpus_;
  Gpus others_{{}, loop_};
  std::optional<Scrape> scrape_;
  std::optional<SharedEnergy> shares_;
};

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
            "the energy of package_0 is not known for the whole interval");
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

TEST_F(SharedEnergyTest, CountsNoProcessUnlessItIsAsked) {
  put_gpu_process(77, 5);
  put_work({{77, 1000}});
  start();
  next(Watts(10.0));
  EXPECT_EQ(shares_->processes(), nullptr);
  EXPECT_THAT(metrics(), Not(HasSubstr("wattle_process")));
  EXPECT_TRUE(parse_json(shares_json(*shares_))["gpu_processes"].is_null());
}

TEST_F(SharedEnergyTest, DividesAGpuAmongItsProcessesByTheTimeItWorkedForEach) {
  put_gpu_process(77, 5, "train");
  put_gpu_process(78, 6, "serve");
  put_work({{77, 0}, {78, 0}});
  start(20, 10);
  put_work({{77, 3000}, {78, 1000}});
  next(Watts(10.0));
  EXPECT_NEAR(process_j(77, 5), 750.0, 0.01);
  EXPECT_NEAR(process_j(78, 6), 250.0, 0.01);
  EXPECT_THAT(metrics(),
              HasSubstr(R"(wattle_process_gpu_energy_joules_total{domain="nvidia_gpu_0",)"
                        R"(kind="process",pid="77",start_ticks="5",comm="train"} )"));
  const nlohmann::ordered_json json = parse_json(shares_json(*shares_));
  const auto& row = json["gpu_processes"][0]["rows"][0];
  EXPECT_EQ(row["kind"], "process");
  EXPECT_EQ(row["group"], "77");
  EXPECT_EQ(row["label"], "train");
  EXPECT_EQ(row["start_ticks"], 5);
  EXPECT_EQ(row["low_uj"], 0) << "nobody knows what a second of each draws";
}

TEST_F(SharedEnergyTest, ProcessesOfAGpuCloseWhileTheyComeAndGoAndNumbersAreUsedAgain) {
  start(20, 3);
  std::map<int, int> work;
  std::map<std::string, std::uint64_t> before;
  for (int i = 0; i < 60; ++i) {
    const int pid = 70 + i % 7;
    if (i % 3 == 0) {  // a new one, mostly with a number that another had
      put_gpu_process(pid, 100 + i, "p" + std::to_string(i));
      work[pid] = 0;
    }
    if (i % 4 == 3) work.erase(70 + i % 5);
    for (auto& [of, ms] : work) ms += of * i % 97;
    put_work(work);
    gpu_->fails = i == 20;
    next(Watts(10.0));
    const nlohmann::ordered_json json = parse_json(shares_json(*shares_));
    ASSERT_EQ(json["gpu_processes"].size(), 1U);
    const auto& gpu = json["gpu_processes"][0];
    std::uint64_t sum = 0;
    std::size_t rows = 0;
    std::map<std::string, std::uint64_t> now;
    for (const auto& row : gpu["rows"]) {
      const auto uj = row["energy_uj"].get<std::uint64_t>();
      sum += uj;
      if (row["kind"] == "process") ++rows;
      const std::string name = row["kind"].get<std::string>() + row["group"].get<std::string>() +
                               (row.contains("start_ticks") ? row["start_ticks"].dump() : "");
      ASSERT_TRUE(now.emplace(name, uj).second) << name << " is there twice";
    }
    ASSERT_EQ(sum, gpu["energy_uj"].get<std::uint64_t>()) << i;
    ASSERT_EQ(gpu["energy_uj"], json["domains"][1]["energy_uj"]) << i;
    ASSERT_LE(rows, 3U);
    for (const auto& [name, uj] : now) {
      const auto last = before.find(name);
      if (last != before.end()) {
        ASSERT_GE(uj, last->second) << name;
      }
    }
    before = std::move(now);
  }
  EXPECT_GT(shares_->processes()->domains().at(0).other.uj, 0U);
  EXPECT_GT(shares_->processes()->domains().at(0).ended_uj, 0U) << "the test has seen a row end";
}

TEST_F(SharedEnergyTest, AProcessWithTheNumberOfAnEndedOneIsAnother) {
  put_gpu_process(77, 5, "first");
  put_work({{77, 1000}});
  start(20, 10);
  next(Watts(10.0));
  put_gpu_process(77, 900, "second");
  next(Watts(10.0));
  next(Watts(10.0));
  EXPECT_NEAR(process_j(77, 5), 2000.0, 0.01);
  EXPECT_NEAR(process_j(77, 900), 1000.0, 0.01) << "less its first interval";
}

TEST_F(SharedEnergyTest, HasAProcessThatIsNotSeenAsUndivided) {
  put_work({{99, 1000}});
  start(20, 10);
  next(Watts(10.0));
  const LedgerDomain& gpu = shares_->processes()->domains().at(0);
  EXPECT_EQ(gpu.undivided.uj, gpu.measured.uj);
  EXPECT_GT(gpu.measured.uj, 0U);
}

TEST_F(SharedEnergyTest, WritesHostileNamesOfProcessesAsTextThatBreaksNoFormat) {
  put_gpu_process(77, 5, "a\"} 1\n\x1b[2J\\");
  put_work({{77, 1000}});
  start(20, 10);
  next(Watts(10.0));
  const std::string text = metrics();
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr(R"(comm="a\"} 1\\x0a\\x1b[2J\\"} )"));
  EXPECT_TRUE(parse_json(shares_json(*shares_)).is_object());
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
