// GPUs that clients set: the requests of zeusd's clients, and what a daemon puts back.
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "control_flood.hpp"
#include "daemon.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTwoGpusToSet =
    "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\nlimit 200 300\nleast_limit 100\nclock_range 210 1980 "
    "800 1593\n"
    "gpu NVIDIA A40\nuuid GPU-bbbb\nlimit 300 300\nleast_limit 150\nclock_range 210 1740 405 7251\n"
    "persistence on\n";

class DaemonControl : public DaemonTest {
 protected:
  void serve_control(const Words& options = {}, const std::string& script = kTwoGpusToSet,
                     const char* enabled = "gpu-read,gpu-control") {
    // What was set before is a property of the devices, not of the daemon.
    if (!nvml_) nvml_ = std::make_unique<fakes::FakeNvml>(script);
    serve(Words{"--enable", enabled, "--settings-journal", journal()} + options, "");
  }
  [[nodiscard]] HttpAnswer post(std::string_view target, std::string_view headers = {}) const {
    return client().ask("POST", target, std::string(headers) + "Content-Length: 0\r\n");
  }
  /// What the driver was told, in order: "0 power_limit 150000".
  [[nodiscard]] std::string told() const {
    const std::string file = nvml_->script_path() + ".set";
    return std::filesystem::exists(file) ? content_of(file) : "";
  }
  [[nodiscard]] std::string journal() const { return path("state/settings").string(); }
  void end() {
    daemon_->send(SIGTERM);
    EXPECT_EQ(daemon_->wait().code(), 0) << log();
  }
  void kill() {
    daemon_->send(SIGKILL);
    (void)daemon_->wait();
  }
  void expect_refused(std::string_view target, std::string_view why) const {
    const HttpAnswer answer = post(target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_THAT(answer.body, HasSubstr(std::string(why))) << target;
    EXPECT_THAT(told(), IsEmpty()) << target;
  }

  static constexpr const char* kLimit =
      "/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=150000";
};

TEST_F(DaemonControl, IsOffUnlessItIsEnabled) {
  serve();
  EXPECT_EQ(post(kLimit).status, 404);
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(DaemonControl, IsAGroupThatDiscoverShows) {
  serve_control();
  const Json found = parse_json(get("/discover").body);
  EXPECT_EQ(found["enabled_api_groups"], Json({"gpu-control", "gpu-read"}));
  EXPECT_EQ(found["gpus"].size(), 2U);
  serve_control({}, kTwoGpusToSet, "gpu-control");
  EXPECT_EQ(parse_json(get("/discover").body)["gpus"].size(), 2U);
  EXPECT_EQ(get("/gpu/get_power").status, 404);
}

TEST_F(DaemonControl, EachSetterReachesTheDriver) {
  serve_control();
  for (const std::string_view target :
       {"set_power_limit?gpu_ids=0%2C1&block=true&power_limit_mw=200000",
        "set_persistence_mode?gpu_ids=0&block=true&enabled=true",
        "set_persistence_mode?gpu_ids=1&block=true&enabled=false",
        "set_gpu_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=210&max_clock_mhz=1410",
        "set_mem_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=800&max_clock_mhz=800",
        "reset_gpu_locked_clocks?gpu_ids=0&block=true",
        "reset_mem_locked_clocks?gpu_ids=0&block=true",
        "reset_locked_clocks?gpu_ids=1&block=true"}) {
    const HttpAnswer answer = post("/gpu/" + std::string(target));
    EXPECT_EQ(answer.status, 200) << target << answer.body;
    EXPECT_THAT(answer.body, IsEmpty());
  }
  const std::string lines = told();
  EXPECT_THAT(lines, AllOf(HasSubstr("0 power_limit 200000\n"), HasSubstr("1 power_limit 200000\n"),
                           HasSubstr("0 persistence 1\n"), HasSubstr("1 persistence 0\n")));
  EXPECT_THAT(lines, HasSubstr("0 gpu_clocks 210 1410\n0 memory_clocks 800 800\n"
                               "0 gpu_clocks reset\n0 memory_clocks reset\n"
                               "1 gpu_clocks reset\n1 memory_clocks reset\n"));
  EXPECT_THAT(get("/gpu/get_power_limit").body,
              AllOf(HasSubstr(R"("0":{"power_limit_mw":200000})"),
                    HasSubstr(R"("1":{"power_limit_mw":200000})")));
}

TEST_F(DaemonControl, AValueOutsideOfTheRangeIsRefusedWithTheRange) {
  serve_control();
  const std::string invalid = R"("0":"Invalid request: )";
  expect_refused("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=99999",
                 invalid + "the power limit 99999 mW is outside of 100000 to 300000 mW");
  expect_refused("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=300001",
                 "outside of 100000 to 300000 mW");
  expect_refused(
      "/gpu/set_gpu_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=0&max_clock_mhz=1410",
      invalid + "the GPU clock 0 to 1410 MHz is outside of 210 to 1980 MHz");
  expect_refused(
      "/gpu/set_mem_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=800&max_clock_mhz=1594",
      "outside of 800 to 1593 MHz");
  expect_refused(
      "/gpu/set_gpu_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=900&max_clock_mhz=800",
      invalid + "900 to 800 MHz is no range");
}

TEST_F(DaemonControl, WhatIsNotUnderstoodIsRefused) {
  serve_control();
  expect_refused("/gpu/set_power_limit?gpu_ids=0&block=true", "missing field `power_limit_mw`");
  expect_refused("/gpu/set_power_limit?gpu_ids=0&power_limit_mw=1", "missing field `block`");
  expect_refused("/gpu/set_power_limit?block=true&power_limit_mw=1", "missing field `gpu_ids`");
  expect_refused(std::string(kLimit) + "&x=1", "unknown field `x`");
  expect_refused("/gpu/set_power_limit?gpu_ids=0&block=1&power_limit_mw=1",
                 "not `true` or `false`");
  expect_refused("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=4294967296",
                 "Query deserialize error");
  expect_refused("/gpu/set_power_limit?gpu_ids=&block=true&power_limit_mw=1",
                 "gpu_ids must contain at least one GPU index");
  for (const char* const block : {"true", "false"}) {
    expect_refused(
        std::string("/gpu/set_power_limit?gpu_ids=5&power_limit_mw=150000&block=") + block,
        "GPU index 5 does not exist.");
  }
  EXPECT_EQ(get(kLimit).status, 404) << "reading sets nothing";
}

TEST_F(DaemonControl, WhoDoesNotWaitIsAnsweredAtOnceAndFailuresAreLogged) {
  serve_control();
  EXPECT_EQ(post("/gpu/set_power_limit?gpu_ids=0&block=false&power_limit_mw=150000").status, 200);
  EXPECT_TRUE(eventually([&] { return told() == "0 power_limit 150000\n"; }));
  EXPECT_EQ(post("/gpu/set_power_limit?gpu_ids=0&block=false&power_limit_mw=1").status, 200);
  EXPECT_TRUE(eventually(
      [&] { return log().find("could not set GPU 0: power limit 1 mW: ") != std::string::npos; }));
  EXPECT_EQ(told(), "0 power_limit 150000\n");
}

TEST_F(DaemonControl, OfManyAtOnceEachIsMadeOrSupersededByALaterOne) {
  serve_control({}, gpus_to_flood(2));
  const FloodResult result = flood({.gpus = 2, .settings = 2000, .setters = 16, .readers = 16},
                                   [this] { return client(); });
  for (const AskedSetting& each : result.settings) ASSERT_EQ(each.status, 200) << each.refusal;
  EXPECT_GT(result.reads, 0U);
  EXPECT_EQ(result.failed_reads, 0U);
  // Whoever does not wait is answered before the setting is made.
  EXPECT_TRUE(eventually([&] { return lost_settings(result.settings, told()).empty(); }));
  end();
  EXPECT_TRUE(logs(AllOf(HasSubstr("restored GPU-0 to power limit 300000 mW"),
                         HasSubstr("restored GPU-1 to power limit 300000 mW"))));
}

// As many as one connection may send before it reads.
TEST_F(DaemonControl, TheLastOfManyThatDoNotWaitIsMade) {
  serve_control({}, gpus_to_flood(1));
  HttpClient client = this->client();
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    requests += "POST /gpu/set_power_limit?gpu_ids=0&block=false&power_limit_mw=" +
                std::to_string(150'000 + i) +
                " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
  }
  client.send(requests);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_TRUE(
      eventually([&] { return told().find("0 power_limit 150099\n") != std::string::npos; }));
}

TEST_F(DaemonControl, ADriverThatRefusesIsAFaultOfItsKind) {
  nvml_ = std::make_unique<fakes::FakeNvml>(std::string(kTwoGpusToSet) +
                                            "error nvmlDeviceSetPowerManagementLimit 4\n"
                                            "error nvmlDeviceSetPersistenceMode 999\n"
                                            "error nvmlDeviceSetGpuLockedClocks 3\n");
  serve_control();
  EXPECT_EQ(post("/gpu/set_power_limit?gpu_ids=1&block=true&power_limit_mw=200000").status, 403);
  EXPECT_EQ(post("/gpu/set_persistence_mode?gpu_ids=1&block=true&enabled=false").status, 500);
  const HttpAnswer answer =
      post("/gpu/set_gpu_locked_clocks?gpu_ids=1&block=true&min_clock_mhz=210&max_clock_mhz=1410");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("NVML error: Not Supported (3)"));
  // Nothing was changed, so nothing is put back.
  end();
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(log(), Not(HasSubstr("restore")));
}

TEST_F(DaemonControl, OfAGpuThatIsLostFails) {
  nvml_ = std::make_unique<fakes::FakeNvml>(std::string(kTwoGpusToSet) + "lost 1.5 1e9\n");
  serve_control();
  EXPECT_TRUE(eventually([&] {
    return post("/gpu/set_power_limit?gpu_ids=1&block=true&power_limit_mw=200000").status == 500;
  }));
  EXPECT_EQ(post(kLimit).status, 200);
}

TEST_F(DaemonControl, OfADriverThatHangsIsAnsweredForInTime) {
  serve_control({}, "hang nvmlDeviceSetPowerManagementLimit\n" + std::string(kTwoGpusToSet));
  const HttpAnswer answer = post(kLimit);
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, HasSubstr("did not answer in time"));
  // The next daemon would put back what this one may have set.
  EXPECT_THAT(content_of(journal()), HasSubstr("GPU-aaaa power_limit_mw 200000 -\n"));
  end();
}

TEST_F(DaemonControl, PutsBackAtItsEndWhatWasSet) {
  serve_control();
  EXPECT_EQ(post(kLimit).status, 200);
  EXPECT_EQ(post("/gpu/set_persistence_mode?gpu_ids=0,1&block=true&enabled=false").status, 200);
  EXPECT_EQ(post("/gpu/set_mem_locked_clocks?gpu_ids=1&block=true&min_clock_mhz=405&"
                 "max_clock_mhz=405")
                .status,
            200);
  const std::size_t before = told().size();
  end();
  const std::string restored = told().substr(before);
  EXPECT_THAT(restored, AllOf(HasSubstr("0 power_limit 200000\n"), HasSubstr("1 persistence 1\n"),
                              HasSubstr("1 memory_clocks reset\n")));
  EXPECT_FALSE(std::filesystem::exists(journal()));
}

TEST_F(DaemonControl, PutsBackWhatADaemonThatWasKilledHadSet) {
  serve_control();
  EXPECT_EQ(post(kLimit).status, 200);
  EXPECT_EQ(post("/gpu/set_gpu_locked_clocks?gpu_ids=1&block=true&min_clock_mhz=210&"
                 "max_clock_mhz=1410")
                .status,
            200);
  kill();
  struct stat status {};
  ASSERT_EQ(::stat(journal().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  serve_control();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(journal()); })) << log();
  EXPECT_THAT(told(),
              AllOf(HasSubstr("0 power_limit 150000\n"), HasSubstr("0 power_limit 200000\n"),
                    HasSubstr("1 gpu_clocks reset\n")));
  EXPECT_THAT(get("/gpu/get_power_limit").body, HasSubstr(R"("0":{"power_limit_mw":200000})"));
}

TEST_F(DaemonControl, PutsBackWhatADaemonThatWasKilledInASetterMayHaveSet) {
  serve_control({}, "hang nvmlDeviceSetPowerManagementLimit\n" + std::string(kTwoGpusToSet));
  HttpClient waits = client();
  waits.send(std::string("POST ") + kLimit +
             " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(journal()); }));
  kill();
  EXPECT_THAT(told(), IsEmpty());
  nvml_->set_script(kTwoGpusToSet);
  serve_control();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(journal()); })) << log();
  EXPECT_EQ(told(), "0 power_limit 200000\n");
}

TEST_F(DaemonControl, RemembersWhatItCouldNotPutBack) {
  serve_control();
  EXPECT_EQ(post(kLimit).status, 200);
  kill();
  const std::string settings = content_of(journal());
  nvml_->set_script("error nvmlDeviceSetPowerManagementLimit 999\n" + std::string(kTwoGpusToSet));
  serve_control();
  EXPECT_TRUE(logs(HasSubstr("cannot restore GPU-aaaa to power limit 200000 mW")));
  end();
  EXPECT_EQ(content_of(journal()), settings);
  nvml_->set_script(kTwoGpusToSet);
  serve_control();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(journal()); })) << log();
  EXPECT_EQ(told(), "0 power_limit 150000\n0 power_limit 200000\n");
}

TEST_F(DaemonControl, OfTheSameGpuByTwoClientsIsPutBackToWhatWasThereFirst) {
  serve_control();
  HttpClient one = client();
  HttpClient other = client();
  const auto set = [](HttpClient& by, int milliwatts) {
    return by
        .ask("POST",
             "/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=" +
                 std::to_string(milliwatts),
             "Content-Length: 0\r\n")
        .status;
  };
  EXPECT_EQ(set(one, 150'000), 200);
  EXPECT_EQ(set(other, 160'000), 200);
  EXPECT_EQ(set(one, 1), 400);
  EXPECT_THAT(get("/gpu/get_power_limit?gpu_ids=0").body, HasSubstr("160000"));
  end();
  EXPECT_THAT(told(), testing::EndsWith("0 power_limit 160000\n0 power_limit 200000\n"));
}

TEST_F(DaemonControl, LeavesAloneWhatSomebodyElseHasSetSince) {
  serve_control();
  EXPECT_EQ(post(kLimit).status, 200);
  // The value is written once the GPU has nothing more to set.
  ASSERT_TRUE(eventually(
      [&] { return content_of(journal()).find("200000 150000\n") != std::string::npos; }));
  kill();
  std::ofstream(nvml_->script_path() + ".set", std::ios::app) << "0 power_limit 170000\n";
  serve_control();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(journal()); }));
  EXPECT_TRUE(eventually(
      [&] { return log().find("another program has changed it") != std::string::npos; }));
  EXPECT_THAT(get("/gpu/get_power_limit").body, HasSubstr(R"("0":{"power_limit_mw":170000})"));
}

TEST_F(DaemonControl, LeavesSettingsAsTheyAreIfAsked) {
  serve_control({"--keep-settings"});
  EXPECT_EQ(post(kLimit).status, 200);
  end();
  EXPECT_EQ(told(), "0 power_limit 150000\n");
  EXPECT_FALSE(std::filesystem::exists(journal()));
}

TEST_F(DaemonControl, DoesNotStartWhereItCouldNotPutBackWhatIsSet) {
  std::ofstream(path("state")) << "no folder";
  nvml_ = std::make_unique<fakes::FakeNvml>(kTwoGpusToSet);
  const Outcome outcome = run(wattled({"serve", "--socket-path", socket(), "--enable",
                                       "gpu-control", "--settings-journal", journal()}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_TRUE(logs(AllOf(HasSubstr("cannot control GPUs: cannot write " + journal()),
                         HasSubstr("--keep-settings"))));
}

TEST_F(DaemonControl, NeedsATokenThroughTcp) {
  serve_control();
  const HttpAnswer answer = tcp_client().ask("POST", kLimit, "Content-Length: 0\r\n");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("--signing-key-path"));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(DaemonControl, NeedsTheScopeAndIsLoggedWithTheSubject) {
  serve_control({"--signing-key-path", key_file("a key of at least thirty-two bytes")});
  const auto bearer = [&](std::string_view scopes) {
    return "Authorization: Bearer " + token("alice", scopes) + "\r\n";
  };
  EXPECT_EQ(post(kLimit).status, 401);
  EXPECT_EQ(post(kLimit, bearer("gpu-read")).status, 403);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(post(kLimit, bearer("gpu-control")).status, 200);
  EXPECT_EQ(
      tcp_client().ask("POST", kLimit, bearer("gpu-control") + "Content-Length: 0\r\n").status,
      200);
  EXPECT_TRUE(
      logs(testing::ContainsRegex("alice \\(token [0-9a-f]+, .*\\) set GPU 0: power limit "
                                  "150000 mW")));
  EXPECT_EQ(client().get("/metrics", bearer("gpu-read")).status, 200) << "it only reads";
}

TEST_F(DaemonControl, IsRefusedToPagesOfOtherSites) {
  serve_control({"--signing-key-path", key_file("a key of at least thirty-two bytes")});
  const std::string bearer = "Authorization: Bearer " + token("alice", "gpu-control") + "\r\n";
  for (const char* const line :
       {"Origin: https://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"}) {
    const HttpAnswer answer =
        tcp_client().ask("POST", kLimit, bearer + line + "Content-Length: 0\r\n");
    EXPECT_EQ(answer.status, 403) << line;
  }
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(DaemonControl, WorksForAUserWithoutRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives up root";
  if (kSanitized) GTEST_SKIP() << "the sanitizer looks for leaks by means that are forbidden";
  ::chmod(folder_.path().c_str(), 0755);
  serve_control({"--user", "nobody"});
  EXPECT_EQ(post(kLimit).status, 200) << log();
  EXPECT_EQ(post(kLimit).status, 200) << "the journal is replaced";
  const std::string status = content_of("/proc/" + std::to_string(daemon_->pid()) + "/status");
  EXPECT_THAT(status, HasSubstr("\nUid:\t65534\t"));
  EXPECT_THAT(status, HasSubstr("\nCapEff:\t0000000000200000\n"));
  end();
  EXPECT_TRUE(logs(HasSubstr("restored GPU-aaaa to power limit 200000 mW")));
}

}  // namespace
}  // namespace wattle::integration
