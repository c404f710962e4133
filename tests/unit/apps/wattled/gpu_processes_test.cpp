// The shares of processes in the energy of GPUs.
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "base/json/json_read.hpp"
#include "shared_energy_fixture.hpp"

namespace wattle::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  EXPECT_NEAR(row["uncertainty_w"].get<double>(), row["power_w"].get<double>(), 1e-3);
  for (const auto& other : json["gpu_processes"][0]["rows"]) {
    EXPECT_EQ(other["uncertainty_w"].is_null(), other["kind"] != "process") << other;
  }
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

}  // namespace
}  // namespace wattle::daemon
