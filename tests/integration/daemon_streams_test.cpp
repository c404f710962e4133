// The streams, over both kinds of socket and in both generations.
#include <sys/socket.h>

#include <limits>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kSteppingGpu =
    "gpu A\npower step 0 75 2 100 4 75 6 100 8 75 10 100\ninstant window_ms 1 update_ms 20\n"
    "gpu B\npower step 0 120\n";

Json json_of(const std::string& event) {
  EXPECT_THAT(event, StartsWith("data: {"));
  EXPECT_THAT(event, EndsWith("}\n\n"));
  return parse_json(event.substr(6));
}

class DaemonStreams : public DaemonTest {
 protected:
  /// Asks for a stream, and takes the head of the answer.
  void listen(HttpClient& client, const std::string& target) const {
    client.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    head_ = client.read_head();
    ASSERT_THAT(head_, StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  mutable std::string head_;
};

TEST_F(DaemonStreams, HaveTheHeadThatClientsCompareWith) {
  serve();
  HttpClient client = tcp_client();
  listen(client, "/gpu/stream_power");
  EXPECT_THAT(head_, HasSubstr("\r\nContent-Type: text/event-stream\r\n"));
  EXPECT_THAT(head_, HasSubstr("\r\nCache-Control: no-cache\r\n"));
  EXPECT_THAT(head_, HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
}

TEST_F(DaemonStreams, BeginWithOneWholeEvent) {
  serve();
  HttpClient client = this->client();
  listen(client, "/gpu/stream_power?gpu_ids=0");
  const Json event = json_of(client.next_chunk());
  EXPECT_EQ(keys_of(event), (Words{"timestamp_ms", "gpu_id", "power_mw"}));
  EXPECT_EQ(event["gpu_id"], 0);
  EXPECT_EQ(event["power_mw"], 75000);
}

TEST_F(DaemonStreams, ReportEachGpuThatWasAskedFor) {
  serve();
  HttpClient client = tcp_client();
  listen(client, "/gpu/stream_power?gpu_ids=0,1");
  std::map<int, int> seen;
  for (int i = 0; i < 2; ++i) {
    const Json event = json_of(client.next_event());
    seen[event["gpu_id"].get<int>()] = event["power_mw"].get<int>();
  }
  EXPECT_EQ(seen, (std::map<int, int>{{0, 75000}, {1, 120000}}));
}

TEST_F(DaemonStreams, GiveALateSubscriberTheCurrentValueAtOnce) {
  serve();
  HttpClient first = client();
  listen(first, "/gpu/stream_power?gpu_ids=1");
  (void)first.next_event();
  HttpClient late = client();
  listen(late, "/gpu/stream_power?gpu_ids=1");
  EXPECT_EQ(json_of(late.next_chunk())["power_mw"], 120000);
}

TEST_F(DaemonStreams, ReportOnlyChanges) {
  serve({}, kSteppingGpu);
  HttpClient client = this->client();
  listen(client, "/gpu/stream_power?gpu_ids=0");
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto power = json_of(client.next_event())["power_mw"].get<std::uint64_t>();
    EXPECT_NE(power, last);
    last = power;
  }
}

TEST_F(DaemonStreams, SayThatTheyAreAliveWhileNothingChanges) {
  serve();
  HttpClient client = this->client();
  listen(client, "/gpu/stream_power?gpu_ids=1");
  EXPECT_THAT(client.next_chunk(), StartsWith("data: "));
  const auto begin = SteadyClock::now();
  EXPECT_EQ(client.next_chunk(), ": alive\n\n");
  EXPECT_EQ(client.next_chunk(), ": alive\n\n");
  EXPECT_GT(SteadyClock::now() - begin, std::chrono::milliseconds(900));
}

TEST_F(DaemonStreams, OfCpusReportMeanPowers) {
  play(50.0);
  serve();
  HttpClient client = this->client();
  listen(client, "/cpu/stream_power?cpu_ids=0");
  const Json event = json_of(client.next_event());
  EXPECT_EQ(keys_of(event), (Words{"timestamp_ms", "cpu_id", "cpu_mw", "dram_mw"}));
  EXPECT_EQ(event["cpu_id"], 0);
  EXPECT_NEAR(event["cpu_mw"].get<double>(), 50'000.0, 20'000.0);
  EXPECT_NEAR(event["dram_mw"].get<double>(), 50'000.0, 20'000.0);
}

TEST_F(DaemonStreams, OfCpusSayNullWhereThereIsNoCounterOfTheMemory) {
  play(50.0);
  serve();
  HttpClient client = this->client();
  listen(client, "/cpu/stream_power?cpu_ids=1");
  const Json event = json_of(client.next_event());
  EXPECT_GT(event["cpu_mw"], 0);
  EXPECT_TRUE(event["dram_mw"].is_null());
}

TEST_F(DaemonStreams, OfACounterThatDoesNotMoveHaveTheReason) {
  serve();
  HttpClient client = this->client();
  listen(client, "/cpu/stream_power?cpu_ids=1");
  EXPECT_EQ(client.next_chunk(), ": cpu 1: its counter does not move\n\n");
  const HttpAnswer power = get("/cpu/get_power?cpu_ids=1");
  EXPECT_EQ(power.status, 500);
  EXPECT_EQ(power.body, R"({"errors":{"1":"IOError: its counter does not move"}})");
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, testing::Not(HasSubstr("wattle_energy_joules_total{domain=\"package_1\"")));
  EXPECT_THAT(metrics, HasSubstr("device=\"package_1\",reason=\"its counter does not move\"} 1"));
}

TEST_F(DaemonStreams, OfTheOldGenerationHoldAllDevices) {
  play(50.0);
  serve({"--stream-format", "snapshot"});
  EXPECT_EQ(parse_json(get("/discover").body)["stream_format"], "snapshot");
  HttpClient gpus = tcp_client();
  listen(gpus, "/gpu/stream_power");
  const Json event = json_of(gpus.next_chunk());
  EXPECT_EQ(keys_of(event), (Words{"timestamp_ms", "power_mw"}));
  EXPECT_EQ(event["power_mw"], (Json{{"0", 75000}, {"1", 120000}}));
  HttpClient cpus = client();
  listen(cpus, "/cpu/stream_power?cpu_ids=1");
  const Json power = json_of(cpus.next_event())["power_mw"];
  ASSERT_EQ(keys_of(power), Words{"1"});
  EXPECT_GT(power["1"]["cpu_mw"], 0);
  EXPECT_TRUE(power["1"]["dram_mw"].is_null());
}

TEST_F(DaemonStreams, OfNothingStayOpenAndSilent) {
  serve({"--sysfs", path("nothing"), "--procfs", path("nothing")}, "");
  HttpClient client = this->client();
  listen(client, "/gpu/stream_power");
  for (int i = 0; i < 30; ++i) EXPECT_EQ(get("/time").status, 200);
  EXPECT_FALSE(client.has_ended());
}

TEST_F(DaemonStreams, OfAGpuThatIsLostSaySoAndGoOnWhenItIsBack) {
  serve({}, "gpu A\npower step 0 75\nlost 1.5 2.5\ngpu B\npower step 0 80\n");
  HttpClient client = this->client();
  listen(client, "/gpu/stream_power?gpu_ids=0");
  EXPECT_EQ(json_of(client.next_chunk())["power_mw"], 75000);
  std::string comment;
  while ((comment = client.next_chunk()) == ": alive\n\n") {
  }
  EXPECT_EQ(comment, ": gpu 0: NVML error: the GPU is lost\n\n");
  EXPECT_EQ(json_of(client.next_event())["power_mw"], 75000);
}

TEST_F(DaemonStreams, OfOneGpuWhoseDriverHangsDoNotHoldUpTheOthers) {
  serve({},
        "gpu A\npower step 0 75\nhang nvmlDeviceGetFieldValues from 1.5\n"
        "gpu B\npower step 0 75 3 100 4 75 5 100\ninstant window_ms 1 update_ms 20\n");
  HttpClient hung = client();
  listen(hung, "/gpu/stream_power?gpu_ids=0");
  EXPECT_THAT(hung.next_chunk(), StartsWith("data: "));
  HttpClient client = this->client();
  listen(client, "/gpu/stream_power?gpu_ids=1");
  for (const int power : {75000, 100000, 75000}) {
    EXPECT_EQ(json_of(client.next_event())["power_mw"], power);
  }
  std::string comment;
  while ((comment = hung.next_chunk()) == ": alive\n\n") {
  }
  EXPECT_EQ(comment, ": gpu 0: its driver does not answer\n\n");
}

TEST_F(DaemonStreams, OfOldClientsAreRefused) {
  serve();
  HttpClient client = this->client();
  client.send("GET /gpu/stream_power HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 505);
}

TEST_F(DaemonStreams, LoseNothingForGoodReadersWhenAThousandReadNothing) {
  play(100.0);
  serve({"--cpu-power-poll-hz", "50"});
  std::vector<HttpClient> deaf;
  const int small = 2048;
  for (int i = 0; i < 1000; ++i) {
    deaf.push_back(client());
    ::setsockopt(deaf.back().fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    deaf.back().send("GET /cpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  std::vector<HttpClient> good;
  for (int i = 0; i < 10; ++i) {
    good.push_back(client());
    listen(good.back(), "/cpu/stream_power?cpu_ids=0");
  }
  // What one of them is told from when the last of them is told something, all are told.
  std::vector<std::vector<std::int64_t>> told(good.size());
  for (int event = 0; event < 200; ++event) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      told[i].push_back(json_of(good[i].next_event())["timestamp_ms"].get<std::int64_t>());
    }
  }
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  for (const auto& times : told) {
    begin = std::max(begin, times.front());
    end = std::min(end, times.back());
  }
  for (auto& times : told) {
    std::erase_if(times, [&](std::int64_t time) { return time < begin || time > end; });
    EXPECT_EQ(times, told.front());
  }
  EXPECT_GT(told.front().size(), 150U);
}

TEST_F(DaemonStreams, OfReadersThatVanishEnd) {
  serve();
  for (int round = 0; round < 5; ++round) {
    std::vector<HttpClient> clients;
    for (int i = 0; i < 50; ++i) {
      clients.push_back(i % 2 == 0 ? client() : tcp_client());
      clients.back().send("GET /gpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
      if (i % 3 == 0) continue;  // some go before they have the head
      EXPECT_THAT(clients.back().read_head(), HasSubstr("200 OK"));
    }
  }
  const std::string descriptors = "/proc/" + std::to_string(daemon_->pid()) + "/fd";
  constexpr int kWithoutClients = 40;
  EXPECT_TRUE(eventually([&] {
    const auto all = std::filesystem::directory_iterator(descriptors);
    return std::distance(begin(all), end(all)) < kWithoutClients;
  }));
  EXPECT_EQ(get("/time").status, 200);
}

}  // namespace
}  // namespace wattle::integration
