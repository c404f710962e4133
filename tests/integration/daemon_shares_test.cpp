// Energy of groups of processes, by a daemon over a tree of control groups that the test makes.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "base/json/json_read.hpp"
#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kShareKey = "daemon-shares-test-signing-key-of-at-least-32";
constexpr const char* kPodUid = "0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56";

/// A sample of /metrics in microjoules: decimals as whole numbers, so that sums are exact.
struct Sample {
  std::string domain;
  std::string labels;
  std::int64_t uj = 0;
};
std::vector<Sample> samples_of(const std::string& text, const std::string& family) {
  std::vector<Sample> found;
  const std::regex line("(?:^|\n)" + family +
                        "_total\\{domain=\"([^\"]*)\"([^\n]*)\\} ([-0-9.e+]+)(?=\n)");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), line); it != std::sregex_iterator();
       ++it) {
    found.push_back(
        {(*it)[1], (*it)[2], static_cast<std::int64_t>(std::llround(std::stod((*it)[3]) * 1e6))});
  }
  return found;
}

/// A package of 50 W; control groups of which the test moves the CPU times.
class DaemonShares : public DaemonTest {
 protected:
  void SetUp() override {
    put("cgroup.controllers", "cpu\n");
    tree_.write_proc("stat", "cpu  100000 0 0 100000 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n");
    play(50.0);
  }
  void put(const std::string& file, const std::string& text) const {
    const auto place = tree_.system().sysfs / "fs/cgroup" / file;
    std::filesystem::create_directories(place.parent_path());
    // A reader sees the old text or the new one, as of a kernel's file.
    const auto made = path("new");
    std::ofstream(made) << text;
    std::filesystem::rename(made, place);
  }
  /// Uses CPU time in all groups.
  void use(std::uint64_t more_us) {
    used_us_ += more_us;
    for (const std::string& group : groups_) {
      put(group + "/cpu.stat", "usage_usec " + std::to_string(used_us_) + "\n");
    }
  }
  void serve_shares(const Words& more = {}) {
    serve(Words{"--enable", "shares", "--shares-interval", "1", "--kubelet-dir",
                path("kubelet").string(), "--pod-logs-dir", path("pods").string()} +
          more);
  }
  [[nodiscard]] nlohmann::ordered_json shares() const {
    return parse_json(get("/api/v1/shares").body);
  }
  /// Uses CPU time until /metrics has that text.
  [[nodiscard]] bool metrics_get(const std::string& text) {
    return eventually([&] {
      use(100'000);
      return get("/metrics").body.find(text) != std::string::npos;
    });
  }

  std::vector<std::string> groups_ = {"system.slice/web.service",
                                      std::string("kubepods/pod") + kPodUid,
                                      "system.slice/slurmstepd.scope/job_4711"};
  std::uint64_t used_us_ = 0;
};

TEST_F(DaemonShares, CloseInEveryScrape) {
  use(0);
  serve_shares();
  ASSERT_TRUE(metrics_get(R"(group_kind="slurm_job",group="4711")"));
  std::map<std::string, std::int64_t> before;
  for (int i = 0; i < 30; ++i) {
    use(50'000);
    if (i == 10) groups_.pop_back();
    const std::string text = get("/metrics").body;
    std::map<std::string, std::int64_t> sums;
    for (const char* const family :
         {"wattle_share_energy_joules", "wattle_share_ended_energy_joules"}) {
      for (const Sample& sample : samples_of(text, family)) {
        sums[sample.domain] += sample.uj;
        std::int64_t& last = before[family + sample.domain + sample.labels];
        EXPECT_GE(sample.uj, last) << sample.domain << sample.labels;
        last = sample.uj;
      }
    }
    const std::vector<Sample> measured = samples_of(text, "wattle_share_measured_joules");
    ASSERT_EQ(measured.size(), 3U) << text;
    for (const Sample& sample : measured) EXPECT_EQ(sums[sample.domain], sample.uj) << text;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

TEST_F(DaemonShares, AreInTheJsonWithTheNamesOfPods) {
  std::filesystem::create_directories(path(std::string("pods/shop_web-0_") + kPodUid));
  use(0);
  serve_shares();
  ASSERT_TRUE(metrics_get(R"(wattle_share_group_info{group_kind="pod")"));
  const nlohmann::ordered_json json = shares();
  ASSERT_EQ(json["domains"].size(), 3U) << json.dump();
  const auto& cpu = json["domains"][0];
  EXPECT_EQ(cpu["domain"], "cpu");
  EXPECT_EQ(cpu["covers"].dump(), R"(["package_0","dram_0","package_1"])");
  std::uint64_t sum = 0;
  std::string label;
  for (const auto& row : cpu["rows"]) {
    sum += row["energy_uj"].get<std::uint64_t>();
    if (row["kind"] == "pod") label = row["label"].get<std::string>();
  }
  EXPECT_EQ(sum, cpu["energy_uj"].get<std::uint64_t>());
  EXPECT_EQ(label, "shop/web-0");
}

TEST_F(DaemonShares, OfProcessesOnAGpuCloseInEveryScrape) {
  for (const auto& [pid, name] :
       std::map<std::string, std::string>{{"4001", "train"}, {"4002", "a\"} 9\\"}}) {
    tree_.write_proc(pid + "/stat",
                     pid + " (" + name + ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 4096 1 0\n");
    tree_.write_proc(pid + "/cgroup", "0::/system.slice/web.service\n");
    tree_.write_proc(pid + "/comm", name + "\n");
  }
  serve(Words{"--enable", "shares", "--shares-interval", "1", "--shares-gpu-processes", "1"},
        "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\npci 0000:41:00\npower step 0 300\ncounter 100000\n"
        "utilization 80 80\nprocess compute 4001 1000000 sm 60\n"
        "process compute 4002 2000000 sm 20\n");
  ASSERT_TRUE(metrics_get(R"(pid="4001",start_ticks="77",comm="train"} )"));
  std::map<std::string, std::int64_t> before;
  for (int i = 0; i < 20; ++i) {
    const std::string text = get("/metrics").body;
    std::int64_t sum = 0;
    std::size_t shown = 0;
    for (const char* const family :
         {"wattle_process_gpu_energy_joules", "wattle_process_gpu_ended_energy_joules"}) {
      for (const Sample& sample : samples_of(text, family)) {
        sum += sample.uj;
        if (sample.labels.find("pid=") != std::string::npos) ++shown;
        std::int64_t& last = before[family + sample.labels];
        EXPECT_GE(sample.uj, last) << sample.labels;
        last = sample.uj;
      }
    }
    EXPECT_EQ(shown, 1U) << "the other is in 'other'";
    for (const Sample& sample : samples_of(text, "wattle_share_measured_joules")) {
      if (sample.domain == "nvidia_gpu_0") {
        EXPECT_EQ(sum, sample.uj) << text;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  EXPECT_GT(before[R"(wattle_process_gpu_energy_joules,kind="other")"], 0);
}

TEST_F(DaemonShares, AreNotThereUnlessTheyAreEnabled) {
  use(0);
  serve();
  const HttpAnswer answer = get("/api/v1/shares");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("--enable shares"));
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("wattle_share")));
}

TEST_F(DaemonShares, AreOfRoundedEnergyWhereStrangersMayAsk) {
  use(0);
  serve_shares();
  ASSERT_TRUE(metrics_get(R"(group_kind="slurm_job",group="4711")"));
  const HttpAnswer answer = get_tcp("/api/v1/shares");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto energy = parse_json(answer.body)["domains"][0]["energy_uj"].get<std::uint64_t>();
  EXPECT_EQ(energy % 1'000'000, 0U) << "whole joules";
}

TEST_F(DaemonShares, NeedATokenWhereThereIsAKey) {
  use(0);
  serve_shares({"--signing-key-path", key_file(kShareKey)});
  EXPECT_EQ(get("/api/v1/shares").status, 401);
}

TEST_F(DaemonShares, RefuseOptionsThatAreNone) {
  for (const Words& words : {Words{"--shares-top", "0"}, Words{"--shares-interval", "61"},
                             Words{"--shares-interval", "x"}, Words{"--shares-baseline", ""}}) {
    Process refused(wattled(Words{"serve", "--enable", "shares"} + words));
    EXPECT_EQ(refused.wait().code(), 64) << words[0];
  }
}

}  // namespace
}  // namespace wattle::integration
