// What clients of zeusd find in a stream: through both kinds of socket, in both formats.
#include <chrono>
#include <thread>

#include "daemon.hpp"
#include "read_watch.hpp"

namespace wattle::integration {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Kind {
  bool is_tcp;
  bool is_snapshot;
};

class DaemonStreamKinds : public DaemonTest, public testing::WithParamInterface<Kind> {
 protected:
  void serve_kind() {
    serve({"--stream-format", GetParam().is_snapshot ? "snapshot" : "per-device"});
  }
  [[nodiscard]] HttpClient any_client() const {
    return GetParam().is_tcp ? tcp_client() : client();
  }
  /// A client that listens, and has the head of the answer.
  [[nodiscard]] HttpClient listener(const std::string& target) const {
    HttpClient client = any_client();
    client.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string head = client.read_head();
    EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(head, HasSubstr("\r\nContent-Type: text/event-stream\r\n"));
    return client;
  }
  /// The one event that the next chunk is.
  [[nodiscard]] static Json whole_event(HttpClient& client) {
    const std::string chunk = client.next_chunk();
    EXPECT_THAT(chunk, StartsWith("data: {"));
    EXPECT_THAT(chunk, EndsWith("}\n\n"));
    EXPECT_EQ(chunk.find('\n'), chunk.size() - 2) << "more than one event: " << chunk;
    return parse_json(chunk.substr(6));
  }
};

std::string name_of(const testing::TestParamInfo<Kind>& kind) {
  const std::string socket = kind.param.is_tcp ? "Tcp" : "Unix";
  return socket + (kind.param.is_snapshot ? "Snapshot" : "PerDevice");
}

INSTANTIATE_TEST_SUITE_P(All, DaemonStreamKinds,
                         testing::Values(Kind{false, false}, Kind{false, true}, Kind{true, false},
                                         Kind{true, true}),
                         name_of);

TEST_P(DaemonStreamKinds, BeginWithOneWholeEventOfAGpu) {
  serve_kind();
  HttpClient client = listener("/gpu/stream_power?gpu_ids=0");
  const Json event = whole_event(client);
  EXPECT_GT(event["timestamp_ms"].get<std::int64_t>(), 1'600'000'000'000);
  if (GetParam().is_snapshot) {
    EXPECT_EQ(keys_of(event), (Words{"timestamp_ms", "power_mw"}));
    EXPECT_EQ(event["power_mw"], (Json{{"0", 75000}}));
  } else {
    EXPECT_EQ(keys_of(event), (Words{"timestamp_ms", "gpu_id", "power_mw"}));
    EXPECT_EQ(event["gpu_id"], 0);
    EXPECT_EQ(event["power_mw"], 75000);
  }
}

TEST_P(DaemonStreamKinds, BeginWithOneWholeEventOfACpu) {
  play(50.0);
  serve_kind();
  HttpClient client = listener("/cpu/stream_power?cpu_ids=1");
  const Json event = whole_event(client);
  if (GetParam().is_snapshot) {
    EXPECT_EQ(keys_of(event), (Words{"timestamp_ms", "power_mw"}));
    EXPECT_EQ(keys_of(event["power_mw"]), Words{"1"});
    EXPECT_TRUE(event["power_mw"]["1"]["dram_mw"].is_null());
  } else {
    EXPECT_EQ(keys_of(event), (Words{"timestamp_ms", "cpu_id", "cpu_mw", "dram_mw"}));
    EXPECT_EQ(event["cpu_id"], 1);
    EXPECT_TRUE(event["dram_mw"].is_null());
  }
}

TEST_P(DaemonStreamKinds, ReportAllDevicesWithoutAList) {
  play(50.0);
  serve_kind();
  for (const char* const target :
       {"/gpu/stream_power", "/cpu/stream_power", "/gpu/stream_power?gpu_ids=1,0",
        "/cpu/stream_power?cpu_ids=0%2C1"}) {
    HttpClient client = listener(target);
    std::string told;
    const auto has = [&](const char* text) { return told.find(text) != std::string::npos; };
    const bool is_gpu = std::string_view(target).starts_with("/gpu");
    const char* const first = GetParam().is_snapshot ? "{\"0\":"
                              : is_gpu               ? "gpu_id\":0"
                                                     : "cpu_id\":0";
    const char* const second = GetParam().is_snapshot ? ",\"1\":"
                               : is_gpu               ? "gpu_id\":1"
                                                      : "cpu_id\":1";
    while (!has(first) || !has(second)) {
      const std::string event = client.next_event();
      ASSERT_FALSE(event.empty()) << target;
      told += event;
    }
  }
}

TEST_P(DaemonStreamKinds, AreRefusedAsQuestionsAre) {
  serve_kind();
  HttpClient client = any_client();
  for (const auto& [target, part] :
       {std::pair("/gpu/stream_power?gpu_ids=99", "Unknown GPU indices: [99]. Available: [0, 1]"),
        {"/cpu/stream_power?cpu_ids=2", "Unknown CPU indices: [2]. Available: [0, 1]"},
        {"/gpu/stream_power?gpu_ids=", "gpu_ids must contain at least one GPU index"},
        {"/gpu/stream_power?cpu_ids=0", "unknown field"},
        {"/cpu/stream_power?gpu_ids=0", "unknown field"}}) {
    const HttpAnswer answer = client.get(target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_THAT(answer.body, HasSubstr(part)) << target;
  }
}

TEST_P(DaemonStreamKinds, HaveADeviceReadOnlyWhileSomebodyListens) {
  serve_kind();
  ReadWatch first(tree_.zone_path("intel-rapl:0") / "energy_uj");
  ReadWatch second(tree_.zone_path("intel-rapl:1") / "energy_uj");
  const auto is_left_alone = [&] {
    (void)first.has_seen_a_read();
    // Several times the interval, where anybody listens.
    std::this_thread::sleep_for(std::chrono::milliseconds(GetParam().is_tcp ? 2200 : 300));
    return !first.has_seen_a_read();
  };
  EXPECT_TRUE(is_left_alone());
  {
    const HttpClient client = listener("/cpu/stream_power?cpu_ids=0");
    first.wait_for_round();
    // Through TCP all share one look at all CPUs a second.
    EXPECT_EQ(second.has_seen_a_read(), GetParam().is_tcp);
  }
  EXPECT_TRUE(eventually(is_left_alone));
}

}  // namespace
}  // namespace wattle::integration
