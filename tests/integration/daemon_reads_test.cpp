// What the daemon answers to single questions, over both kinds of socket.
#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

enum class Via { file, tcp };

class DaemonReads : public DaemonTest, public testing::WithParamInterface<Via> {
 protected:
  [[nodiscard]] HttpAnswer ask(std::string_view target) const {
    return GetParam() == Via::file ? get(target) : get_tcp(target);
  }
  void expect_refused(std::string_view target, std::string_view part) const {
    const HttpAnswer answer = ask(target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_THAT(answer.body, HasSubstr(part)) << target;
  }
};

INSTANTIATE_TEST_SUITE_P(Sockets, DaemonReads, testing::Values(Via::file, Via::tcp),
                         [](const auto& chosen) {
                           return chosen.param == Via::file ? "Unix" : "Tcp";
                         });

TEST_P(DaemonReads, DiscoverReportsWhatThereIs) {
  serve();
  const HttpAnswer answer = ask("/discover");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(
      answer.body,
      StartsWith(
          R"({"gpus":[{"id":0,"name":"NVIDIA H100 PCIe","pci_address":"0000:41:00.0",)"
          R"("cumulative_energy_available":true,"domain":"nvidia_gpu_0"},)"
          R"({"id":1,"name":"NVIDIA A40",)"
          R"("pci_address":"0000:61:00.0","cumulative_energy_available":false,"domain":"nvidia_gpu_1"}],)"
          R"("cpus":[{"id":0,"dram_available":true,"domain":"package_0"},)"
          R"({"id":1,"dram_available":false,"domain":"package_1"}],)"
          R"("enabled_api_groups":["gpu-control","gpu-read","cpu-read"],"auth_required":false,)"));
  const Json json = parse_json(answer.body);
  EXPECT_EQ(json["gpu_ids"], (Json{0, 1}));
  EXPECT_EQ(json["cpu_ids"], (Json{0, 1}));
  EXPECT_EQ(json["dram_available"], (Json{true, false}));
  EXPECT_FALSE(json.contains("vendor"));
}

TEST_P(DaemonReads, TimeIsNow) {
  serve();
  using namespace std::chrono;
  const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  const Json json = parse_json(ask("/time?ignored=1").body);
  EXPECT_NEAR(json["timestamp_ms"].get<double>(), static_cast<double>(now), 60'000.0);
}

TEST_P(DaemonReads, GpuPowerIsOneOrAllOrSome) {
  serve();
  EXPECT_EQ(parse_json(ask("/gpu/get_power").body)["power_mw"],
            (Json{{"0", 75000}, {"1", 120000}}));
  EXPECT_EQ(parse_json(ask("/gpu/get_power?gpu_ids=1").body)["power_mw"], (Json{{"1", 120000}}));
  EXPECT_EQ(parse_json(ask("/gpu/get_power?gpu_ids=1%2C0").body)["power_mw"],
            (Json{{"0", 75000}, {"1", 120000}}));
  EXPECT_EQ(parse_json(ask("/gpu/get_power?gpu_ids=0,%201,0").body)["power_mw"],
            (Json{{"0", 75000}, {"1", 120000}}));
}

TEST_P(DaemonReads, GpuEnergyIsThatOfItsCounter) {
  serve();
  const HttpAnswer answer = ask("/gpu/get_cumulative_energy?gpu_ids=0");
  EXPECT_EQ(answer.status, 200);
  EXPECT_GE(parse_json(answer.body)["0"]["energy_mj"].get<std::uint64_t>(), 500000U);
}

TEST_P(DaemonReads, AGpuWithoutACounterFailsByName) {
  serve();
  const HttpAnswer answer = ask("/gpu/get_cumulative_energy");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(keys_of(parse_json(answer.body)["errors"]), Words{"1"});
}

TEST_P(DaemonReads, GpuSettingsAreRead) {
  serve();
  EXPECT_EQ(ask("/gpu/get_power_limit?gpu_ids=0").body, R"({"0":{"power_limit_mw":200000}})");
  EXPECT_EQ(ask("/gpu/get_power_limit_constraints?gpu_ids=0").body,
            R"({"0":{"min_power_limit_mw":0,"max_power_limit_mw":300000}})");
  EXPECT_EQ(ask("/gpu/get_persistence_mode").body,
            R"({"0":{"enabled":true},"1":{"enabled":false}})");
}

TEST_P(DaemonReads, CpuEnergyHasBothKeysAlways) {
  play(50.0);
  serve();
  const Json both = parse_json(ask("/cpu/get_cumulative_energy?cpu=true&dram=true").body);
  EXPECT_EQ(keys_of(both), (Words{"0", "1"}));
  EXPECT_EQ(keys_of(both["0"]),
            (Words{"cpu_energy_uj", "dram_energy_uj", "since_ms", "timestamp_ms", "domain"}));
  EXPECT_TRUE(both["0"]["dram_energy_uj"].is_number());
  EXPECT_TRUE(both["1"]["dram_energy_uj"].is_null());
  const Json cpu = parse_json(ask("/cpu/get_cumulative_energy?cpu=true&dram=false&cpu_ids=0").body);
  EXPECT_EQ(keys_of(cpu), Words{"0"});
  EXPECT_TRUE(cpu["0"]["dram_energy_uj"].is_null());
  const Json dram = parse_json(ask("/cpu/get_cumulative_energy?cpu=false&dram=true").body);
  EXPECT_TRUE(dram["0"]["cpu_energy_uj"].is_null());
  EXPECT_TRUE(dram["0"]["dram_energy_uj"].is_number());
}

TEST_P(DaemonReads, CpuPowerIsThatBetweenTwoLooks) {
  play(50.0);
  serve();
  const HttpAnswer answer = ask("/cpu/get_power");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json json = parse_json(answer.body);
  // A virtual machine may take a third of a look's time away from the player.
  EXPECT_NEAR(json["power_mw"]["0"]["cpu_mw"].get<double>(), 50'000.0, 20'000.0);
  EXPECT_NEAR(json["power_mw"]["0"]["dram_mw"].get<double>(), 50'000.0, 20'000.0);
  EXPECT_TRUE(json["power_mw"]["1"]["dram_mw"].is_null());
}

TEST_P(DaemonReads, WhatIsNotAParameterIsRefused) {
  serve();
  expect_refused("/gpu/get_power?gpu_idx=0", "unknown field");
  expect_refused("/gpu/get_power?cpu_ids=0", "unknown field");
  expect_refused("/cpu/get_power?gpu_ids=0", "unknown field");
  expect_refused("/cpu/get_cumulative_energy?cpu=true&dram=true&x=1", "unknown field");
  expect_refused("/cpu/get_cumulative_energy?cpu=true", "missing field `dram`");
  expect_refused("/cpu/get_cumulative_energy?dram=true", "missing field `cpu`");
  expect_refused("/cpu/get_cumulative_energy?cpu=1&dram=true", "not `true` or `false`");
  expect_refused("/cpu/get_cumulative_energy?cpu=True&dram=true", "not `true` or `false`");
}

TEST_P(DaemonReads, WhatIsNoListOfIdsIsRefused) {
  serve();
  expect_refused("/gpu/get_power?gpu_ids=", "gpu_ids must contain at least one GPU index");
  expect_refused("/gpu/get_power?gpu_ids=0,,1", "gpu_ids contains an empty GPU index");
  expect_refused("/gpu/get_power?gpu_ids=x", "Invalid GPU index: x");
  expect_refused("/cpu/get_power?cpu_ids=x", "Invalid CPU index: x");
}

TEST_P(DaemonReads, DevicesThatAreNotThereAreNamed) {
  serve();
  EXPECT_EQ(ask("/gpu/get_power?gpu_ids=5").body, R"({"error":"GPU 5 not found"})");
  expect_refused("/gpu/get_power?gpu_ids=5", "GPU 5 not found");
  expect_refused("/cpu/get_power?cpu_ids=2", "CPU 2 not found");
  expect_refused("/cpu/get_cumulative_energy?cpu=true&dram=true&cpu_ids=2", "CPU 2 not found");
  expect_refused("/gpu/stream_power?gpu_ids=5",
                 R"({"error":"Unknown GPU indices: [5]. Available: [0, 1]"})");
  expect_refused("/cpu/stream_power?cpu_ids=7,5",
                 R"({"error":"Unknown CPU indices: [5, 7]. Available: [0, 1]"})");
}

TEST_P(DaemonReads, ControlIsAGroupThatIsOff) {
  serve();
  const HttpAnswer answer = ask("/gpu/set_power_limit?gpu_ids=0&power_limit_mw=1&block=true");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(
      answer.body,
      testing::StartsWith(R"({"error":"API group 'gpu-control' is not enabled on this server.)"));
}

TEST_P(DaemonReads, AGroupThatIsOffIsNotThere) {
  serve({"--enable", "cpu-read"});
  const HttpAnswer answer = ask("/gpu/get_power");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, R"({"error":"API group 'gpu-read' is not enabled on this server."})");
  const Json json = parse_json(ask("/discover").body);
  EXPECT_EQ(json["gpus"], Json::array());
  EXPECT_EQ(json["enabled_api_groups"], Json{"cpu-read"});
}

TEST_P(DaemonReads, WhatIsNotThereIsNotFound) {
  serve();
  for (const char* const target : {"/gpu", "/gpu/get_power/", "//gpu/get_power", "/GPU/get_power",
                                   "/gpu/./get_power", "/gpu%2Fget_power"}) {
    const HttpAnswer answer = ask(target);
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_EQ(answer.body, R"({"error":"There is no such path on this server."})") << target;
  }
  EXPECT_EQ(ask("/auth/whoami").body,
            R"({"error":"Authentication is not enabled on this server."})");
}

TEST_P(DaemonReads, AnotherMethodIsNotFound) {
  serve();
  HttpClient client = GetParam() == Via::file ? this->client() : tcp_client();
  for (const char* const method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const HttpAnswer answer = client.ask(method, "/gpu/get_power", "Content-Length: 0\r\n");
    EXPECT_EQ(answer.status, 404) << method;
    EXPECT_EQ(answer.body, R"({"error":"This path takes GET requests only."})") << method;
  }
}

TEST_P(DaemonReads, AConnectionServesManyRequests) {
  serve();
  HttpClient client = GetParam() == Via::file ? this->client() : tcp_client();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.get("/gpu/get_power").status, 200);
}

TEST_P(DaemonReads, SensorsAreListedWithTheReasonsOfThoseThatAreMissing) {
  tree_.add_zone("intel-rapl:2", "strange");
  serve();
  const Json json = parse_json(ask("/api/v1/sensors").body);
  EXPECT_EQ(json["schema"], "wattled.sensors/1");
  EXPECT_EQ(json["channels"][0]["quantity"], "energy");
  EXPECT_THAT(json["refused"].dump(), HasSubstr("unknown zone name: strange"));
  EXPECT_EQ(parse_json(ask("/health").body)["status"], "ok") << "it was never served";
}

TEST_P(DaemonReads, HealthIsThatOfAGpuWhoseEnergyIsFoundFromItsPowerToo) {
  serve();
  EXPECT_THAT(parse_json(ask("/api/v1/sensors").body)["refused"].dump(),
              HasSubstr("nvidia_gpu_1 energy"));
  EXPECT_EQ(parse_json(ask("/health").body)["status"], "ok");
}

TEST_P(DaemonReads, MetricsAreThoseOfAllDevices) {
  play(50.0);
  serve();
  HttpAnswer answer;
  // A busy machine may not have read its counters in time for the first scrape.
  EXPECT_TRUE(eventually([&] {
    answer = ask("/metrics");
    return answer.body.find("wattle_energy_joules_total{domain=\"dram_0\"") != std::string::npos;
  }));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer.body, HasSubstr("wattle_energy_joules_total{domain=\"package_0\","));
  EXPECT_THAT(answer.body, HasSubstr("wattle_energy_joules_total{domain=\"dram_0\","));
  EXPECT_THAT(answer.body,
              HasSubstr("wattle_power_watts{domain=\"nvidia_gpu_0\",device=\"GPU-aaaa\","
                        "vendor=\"nvidia\",source=\"nvml\",additive=\"true\"} 75\n"));
  EXPECT_THAT(answer.body, HasSubstr("wattle_sensor_up{domain=\"nvidia_gpu_1\""));
  EXPECT_THAT(answer.body, HasSubstr("wattle_samples_dropped_total{reason=\"slow_reader\"} 0\n"));
}

TEST_P(DaemonReads, TheIndexListsAllPathsWhateverIsEnabled) {
  serve({"--enable", "cpu-read"});
  const HttpAnswer answer = ask("/");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain; charset=utf-8"));
  for (const char* const path : {"/discover", "/health", "/metrics", "/api/v1/energy",
                                 "/gpu/stream_power", "/cpu/get_power", "/gpu/set_power_limit"}) {
    EXPECT_THAT(answer.body, HasSubstr(std::string(" ") + path + " ")) << path;
  }
  EXPECT_THAT(answer.body, testing::ContainsRegex("/gpu/get_power  .*scope gpu-read"));
}

class DaemonFaults : public DaemonTest {};

TEST_F(DaemonFaults, ADaemonWithoutAnyDeviceStartsAndSaysWhy) {
  serve({"--sysfs", path("nothing"), "--procfs", path("nothing")}, "");
  const Json json = parse_json(get("/discover").body);
  EXPECT_EQ(json["gpus"], Json::array());
  EXPECT_EQ(json["cpus"], Json::array());
  EXPECT_FALSE(json["refused"].empty());
  EXPECT_TRUE(logs(HasSubstr("is not served")));
  EXPECT_EQ(get("/gpu/get_power").body.substr(0, 15), R"({"timestamp_ms")");
}

TEST_F(DaemonFaults, ACounterThatStandsForGoodIsAnErrorOfItsEnergyToo) {
  serve();
  const std::string energy = "/cpu/get_cumulative_energy?cpu=true&dram=true&cpu_ids=1";
  ASSERT_TRUE(eventually([&] { return get(energy).status == 500; }));
  const std::string reason = R"({"errors":{"1":"IOError: its counter does not move"}})";
  EXPECT_EQ(get(energy).body, reason);
  EXPECT_EQ(get("/cpu/get_power?cpu_ids=1").body, reason);
}

TEST_F(DaemonFaults, AMemoryWhoseCounterStandsHidesNoCpu) {
  const std::string energy = "/cpu/get_cumulative_energy?dram=true&cpu_ids=0&cpu=";
  play(50.0, {"intel-rapl:0"});
  serve();
  ASSERT_TRUE(eventually([&] { return get(energy + "false").status == 500; }));
  const Json both = parse_json(get(energy + "true").body);
  EXPECT_TRUE(both["0"]["cpu_energy_uj"].is_number()) << both;
  EXPECT_TRUE(both["0"]["dram_energy_uj"].is_null()) << both;
}

TEST_F(DaemonFaults, ADriverThatHangsIsAnsweredForInTime) {
  serve({},
        "gpu A\npower step 0 75\ngpu B\npower step 0 75\nhang nvmlDeviceGetTotalEnergyConsumption "
        "from 3\n");
  ASSERT_TRUE(eventually([&] {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    const HttpAnswer answer = get("/gpu/get_cumulative_energy?gpu_ids=1");
    EXPECT_LT(steady_clock::now() - begin, seconds(5));
    return answer.status == 500;
  }));
  EXPECT_EQ(get("/gpu/get_cumulative_energy?gpu_ids=0").status, 200);
}

TEST_F(DaemonFaults, ALostGpuIsAnErrorOfItsOwn) {
  serve({}, "gpu A\npower step 0 75\nlost 0.5 1000\ngpu B\npower step 0 80\n");
  ASSERT_TRUE(eventually([&] { return get("/gpu/get_power?gpu_ids=0").status == 500; }));
  EXPECT_EQ(get("/gpu/get_power").body, R"({"errors":{"0":"NVML error: the GPU is lost"}})");
  EXPECT_EQ(get("/gpu/get_power?gpu_ids=1").status, 200);
}

TEST_F(DaemonFaults, HealthIsThatOfTheGpusWhenTheyWereLastAsked) {
  serve({}, "gpu A\npower step 0 75\nlost 0.5 1.5\n");
  const auto health = [&] { return parse_json(get("/health").body)["status"]; };
  EXPECT_EQ(health(), "ok");
  ASSERT_TRUE(eventually([&] { return get("/gpu/get_power").status == 500; }));
  EXPECT_EQ(health(), "degraded");
  ASSERT_TRUE(eventually([&] { return get("/gpu/get_power").status == 200; }));
  EXPECT_EQ(health(), "ok");
}

TEST_F(DaemonFaults, HealthIsThatOfCountersThatWereThere) {
  play(50.0, {"intel-rapl:0", "intel-rapl:0:0"});
  serve();
  const auto health = [&] { return parse_json(get("/health").body)["status"]; };
  EXPECT_EQ(health(), "ok");
  const std::string energy = "/cpu/get_cumulative_energy?cpu=true&dram=false&cpu_ids=";
  ASSERT_TRUE(eventually([&] { return get(energy + "1").status == 500; })) << "it never moved";
  EXPECT_EQ(health(), "ok");
  player_.reset();
  ASSERT_TRUE(eventually([&] { return get(energy + "0").status == 500; })) << "it stopped";
  EXPECT_EQ(health(), "degraded");
}

TEST_F(DaemonFaults, GpusAreServedWhoseDriverIsLoadedLater) {
  nvml_ = std::make_unique<fakes::FakeNvml>(kTwoGpus);
  const std::string late = path("late/libnvidia-ml.so.1").string();
  const Words library = {"--nvml-library", late};
  serve(library, "");
  EXPECT_EQ(parse_json(get("/discover").body)["gpus"], Json::array());
  EXPECT_EQ(parse_json(get("/health").body)["status"], "ok");
  std::filesystem::create_directory(path("late"));
  std::filesystem::copy_file(nvml_->library_path(), late);
  ASSERT_TRUE(eventually([&] { return parse_json(get("/discover").body)["gpus"].size() == 2; }));
  const Json found = parse_json(get("/discover").body);
  EXPECT_EQ(found["gpus"][1]["id"], 1) << found;
  EXPECT_THAT(found["refused"].dump(), testing::Not(HasSubstr("libnvidia-ml")));
  EXPECT_EQ(parse_json(get("/gpu/get_power").body)["power_mw"]["1"], 120'000);
  EXPECT_TRUE(logs(HasSubstr("found GPU 1: NVIDIA A40")));
  EXPECT_THAT(get("/metrics").body,
              HasSubstr("wattle_energy_joules_total{domain=\"nvidia_gpu_1\",device=\"GPU-bbbb\","
                        "vendor=\"nvidia\",source=\"integrated\""));
}

TEST_F(DaemonFaults, WithoutAKeyTcpSeesWholeJoulesOnceASecond) {
  play(500.0);
  serve();
  const auto energy = [&] {
    const Json json =
        parse_json(get_tcp("/cpu/get_cumulative_energy?cpu=true&dram=true&cpu_ids=0").body);
    return json["0"]["cpu_energy_uj"].get<std::uint64_t>();
  };
  std::map<std::uint64_t, int> seen;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) ++seen[energy()];
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (const auto& [uj, count] : seen) EXPECT_EQ(uj % 1'000'000, 0U);
  EXPECT_LE(static_cast<double>(seen.size()), took.count() + 2.0);
}

class PartialGaugeOfADaemon : public DaemonTest {};

TEST_F(PartialGaugeOfADaemon, HasItsCoverageAndUncertaintyInMetrics) {
  serve({}, kPartialGauge);
  (void)get("/metrics");  // the first one starts the energy
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, testing::ContainsRegex(
                           "wattle_power_coverage_ratio.domain=\"nvidia_gpu_0\"[^\n]* 0\\.1[34]"));
  EXPECT_THAT(metrics, HasSubstr("wattle_energy_uncertainty_joules{domain=\"nvidia_gpu_0\""));
}

}  // namespace
}  // namespace wattle::integration
